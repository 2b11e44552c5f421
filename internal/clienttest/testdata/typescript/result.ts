/** A call returns the body: JSON as an object, text as a string, other files in base64. */
export type Calls = Record<string, () => Promise<unknown>>;

export async function base64(file: Blob): Promise<string> {
  return btoa(String.fromCharCode(...new Uint8Array(await file.arrayBuffer())));
}
