// Drawing of the map on its canvas. A place is where the view is on the canvas: kx and ky pixels per unit, and the pixels dx, dy
// of the point 0, 0.

// colorsOf returns the colors of points and of highlights, which the style sheet sets for the current theme. Those of the dark
// theme are light.
export function colorsOf(canvas) {
  const style = getComputedStyle(canvas);
  const brightness = style.color.match(/[\d.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
  return { dot: style.color, hot: style.caretColor, name: style.outlineColor, sea: getComputedStyle(canvas.parentElement).backgroundColor, dark: brightness > 3 * 128 };
}

// clearCanvas adapts the canvas to its size on the screen and returns its context.
export function clearCanvas(canvas) {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(canvas.clientWidth * ratio);
  canvas.height = Math.round(canvas.clientHeight * ratio);
  const g = canvas.getContext("2d");
  g.scale(ratio, ratio);
  return g;
}

// drawPoints draws points in the colors of their classes, if they have any; the one at the position open is highlighted.
export function drawPoints(g, place, points, colors, open, classColors) {
  const { kx, ky, dx, dy, width, height } = place;
  const n = points.xs.length;
  const { classes, radii } = points;
  const common = (n < 200 ? 5 : n < 3000 ? 3 : 2) * (width < 600 ? 0.7 : 1);
  g.fillStyle = colors.dot;
  g.strokeStyle = colors.sea;
  g.globalAlpha = classes ? 0.85 : n < 3000 || radii ? 0.7 : 0.5;
  if (colors.dark && !classes && !radii) g.globalCompositeOperation = "lighter"; // clusters glow
  for (const i of points.order) {
    const x = points.xs[i] * kx + dx;
    const y = points.ys[i] * ky + dy;
    const radius = radii?.[i] ?? common;
    if (!(x > -radius && x < width + radius && y > -radius && y < height + radius)) continue; // also if a coordinate is missing
    if (classes) g.fillStyle = classColors[classes[i]];
    g.beginPath();
    g.arc(x, y, radius, 0, 7);
    g.fill();
    if (radii && radius > 4) g.stroke(); // overlapping points stay apart
  }
  g.globalAlpha = 1;
  g.globalCompositeOperation = "source-over";
  if (open >= 0 && open < n) {
    g.fillStyle = colors.hot;
    g.beginPath();
    g.arc(points.xs[open] * kx + dx, points.ys[open] * ky + dy, (radii?.[open] ?? common) + 3, 0, 7);
    g.fill();
  }
}

// cellRect returns the pixels of a cell. They are whole, so that there are no gaps between cells.
function cellRect(place, cells, column, row) {
  const [minX, minY, maxX, maxY] = cells.bounds;
  const at = (low, high, i, n) => 10 * (low + ((high - low) * i) / n);
  const x0 = at(minX, maxX, column, cells.columns) * place.kx + place.dx;
  const x1 = at(minX, maxX, column + 1, cells.columns) * place.kx + place.dx;
  const y0 = -at(minY, maxY, row + 1, cells.rows) * place.ky + place.dy;
  const y1 = -at(minY, maxY, row, cells.rows) * place.ky + place.dy;
  return { x0: Math.round(x0), y0: Math.round(y0), x1: Math.round(x1), y1: Math.round(y1) };
}

// levelOf returns the level of a cell: the last one whose least count it reaches.
const levelOf = (cells, count) => cells.levels.findLastIndex((least) => count >= least);

// rangesOf returns the least and the greatest count of the cells of each level.
export function rangesOf(cells) {
  const ranges = cells.levels.map(() => [Infinity, 0]);
  for (const [, , count] of cells.data) {
    const range = ranges[levelOf(cells, count)];
    [range[0], range[1]] = [Math.min(range[0], count), Math.max(range[1], count)];
  }
  return ranges;
}

// drawCells draws cells in the colors of their levels; the highest level has a color of its own.
export function drawCells(g, place, cells, colors, opacities) {
  for (const [column, row, count] of cells.data) {
    const r = cellRect(place, cells, column, row);
    const level = levelOf(cells, count);
    g.fillStyle = level === opacities.length - 1 ? colors.hot : colors.dot;
    g.globalAlpha = opacities[level];
    g.fillRect(r.x0, r.y0, r.x1 - r.x0, r.y1 - r.y0);
  }
  g.globalAlpha = 1;
}

// drawPlaces draws the names of the places in view that fit at the scale, and returns their number.
export function drawPlaces(g, place, places, west, colors, font) {
  let drawn = 0;
  g.font = font;
  g.textBaseline = "middle";
  g.lineWidth = 3;
  g.lineJoin = "round";
  for (const [name, x, y, scale] of places) {
    const left = (west === 0 && x < 0 ? x + 3600 : x) * place.kx + place.dx;
    const top = y * place.ky + place.dy;
    if (place.kx < scale || left < 0 || left > place.width || top < 8 || top > place.height - 8) continue;
    drawn++;
    g.strokeStyle = colors.sea;
    g.fillStyle = colors.name;
    g.beginPath();
    g.arc(left, top, 1.5, 0, 7);
    g.fill();
    g.strokeText(name, left + 5, top);
    g.fillText(name, left + 5, top);
  }
  return drawn;
}

// countInView returns the number of points on the canvas.
export function countInView(place, points) {
  let n = 0;
  for (let i = 0; i < points.xs.length; i++) {
    const x = points.xs[i] * place.kx + place.dx;
    const y = points.ys[i] * place.ky + place.dy;
    if (x >= 0 && x <= place.width && y >= 0 && y <= place.height) n++;
  }
  return n;
}

// drawBox draws an area that is being selected.
export function drawBox(g, box, colors) {
  g.strokeStyle = colors.hot;
  g.setLineDash([4, 3]);
  g.strokeRect(Math.min(box.x0, box.x1), Math.min(box.y0, box.y1), Math.abs(box.x1 - box.x0), Math.abs(box.y1 - box.y0));
}

// drawBar draws the scale bar at the bottom right.
export function drawBar(g, place, length, text, colors) {
  const [right, bottom] = [place.width - 16, place.height - 12];
  g.setLineDash([]);
  g.lineWidth = 1;
  g.strokeStyle = g.fillStyle = colors.name;
  g.beginPath();
  for (const [x, y] of [[right - length, bottom - 6], [right - length, bottom], [right, bottom], [right, bottom - 6]]) g.lineTo(x, y);
  g.stroke();
  g.textAlign = "right";
  g.fillText(text, right - 4, bottom - 9);
}

// nearest returns the position of the point at a pixel or near it, or -1.
export function nearest(place, points, x, y) {
  let best = -1;
  let distance = Infinity;
  for (let i = 0; i < points.xs.length; i++) {
    const d = (points.xs[i] * place.kx + place.dx - x) ** 2 + (points.ys[i] * place.ky + place.dy - y) ** 2;
    if (d < distance && d < Math.max(10, points.radii?.[i] ?? 0) ** 2) [best, distance] = [i, d];
  }
  return best;
}

// cellAt returns the cell at a pixel; undefined if it is empty.
export function cellAt(place, cells, x, y) {
  return cells.data.find(([column, row]) => {
    const r = cellRect(place, cells, column, row);
    return x >= r.x0 && x < r.x1 && y >= r.y0 && y < r.y1;
  });
}
