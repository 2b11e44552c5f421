// Pointers, wheel and keys on the map. It has the functions canvas, move, zoom, openAt, describe, select, outline and fit; places
// are pixels on the canvas.

export function listen(map) {
  const pointers = new Map();
  let area = null; // that is being selected
  let pinch = 0; // distance of two fingers
  const button = () => document.querySelector(".map-tools [data-select]");
  const selecting = () => button()?.getAttribute("aria-pressed") === "true";
  const setSelecting = (on) => button()?.setAttribute("aria-pressed", String(on));
  const listener = (type, handle, options) => document.addEventListener(type, (event) => {
    if (event.target === map.canvas()) handle(event, event.offsetX, event.offsetY);
  }, options);
  const setArea = (next) => {
    area = next;
    map.outline(area);
  };

  listener("pointerdown", (event, x, y) => {
    if (event.button) return;
    event.target.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { x, y, moved: false });
    if (event.shiftKey || selecting()) setArea({ x0: x, y0: y, x1: x, y1: y });
    pinch = 0;
  });

  listener("pointermove", (event, x, y) => {
    const p = pointers.get(event.pointerId);
    if (!p) return map.describe(x, y);
    const [dx, dy] = [x - p.x, y - p.y];
    if (!p.moved && Math.hypot(dx, dy) < 4) return;
    const other = [...pointers.values()].find((q) => q !== p);
    pointers.set(event.pointerId, { x, y, moved: true });
    if (other) {
      const distance = Math.hypot(x - other.x, y - other.y);
      if (pinch) map.zoom(distance / pinch, (x + other.x) / 2, (y + other.y) / 2);
      pinch = distance;
      if (area) setArea(null);
    } else if (area) setArea({ ...area, x1: x, y1: y });
    else map.move(dx, dy);
  });

  listener("pointerup", (event) => {
    const p = pointers.get(event.pointerId);
    pointers.delete(event.pointerId);
    if (!p) return;
    const selected = area;
    if (area) setArea(null);
    if (!p.moved) map.openAt(p.x, p.y);
    else if (selected && Math.abs(selected.x1 - selected.x0) > 4 && Math.abs(selected.y1 - selected.y0) > 4) {
      setSelecting(false);
      map.select(selected);
    }
  });

  listener("pointercancel", (event) => pointers.delete(event.pointerId));

  listener("wheel", (event, x, y) => {
    event.preventDefault();
    map.zoom(Math.exp(-event.deltaY / 400), x, y);
  }, { passive: false });

  listener("keydown", (event) => {
    const step = 80;
    const action = {
      ArrowLeft: () => map.move(step, 0), ArrowRight: () => map.move(-step, 0), ArrowUp: () => map.move(0, step), ArrowDown: () => map.move(0, -step),
      "+": () => map.zoom(1.5), "=": () => map.zoom(1.5), "-": () => map.zoom(1 / 1.5), 0: map.fit,
    }[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // the arrow keys do not turn pages
    action();
  }, true);

  document.addEventListener("click", (event) => {
    const tool = event.target.closest?.(".map-tools > *");
    if (!tool || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // the links are for browsers without a script
    if (tool.dataset.zoom === "fit") map.fit();
    else if (tool.dataset.zoom) map.zoom(Number(tool.dataset.zoom));
    else setSelecting(!selecting());
  }, true);
}
