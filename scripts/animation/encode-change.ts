/** Runs in a page: browsers have the codec. */

type Pixels = { readonly data: { readonly buffer: ArrayBuffer } };
type Context = {
  drawImage(image: unknown, x: number, y: number): void;
  getImageData(x: number, y: number, width: number, height: number): Pixels;
  putImageData(pixels: Pixels, x: number, y: number): void;
};
declare function createImageBitmap(source: Blob): Promise<{ width: number; height: number }>;
declare class OffscreenCanvas {
  constructor(width: number, height: number);
  getContext(kind: '2d', options?: object): Context;
  convertToBlob(options: { type: string; quality: number }): Promise<Blob>;
}

/** The smallest rectangle in which a picture differs from the one before, losslessly encoded. Both are addresses. */
export async function encodeChange([before, after]: readonly [string | null, string]) {
  const read = async (address: string) => {
    const image = await createImageBitmap(await (await fetch(address)).blob());
    const { width, height } = image;
    const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    const pixels = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
    return { context, width, height, pixels };
  };
  const now = await read(after);
  const { width, height } = now;
  const changed = { left: 0, top: 0, right: width, bottom: height };
  if (before !== null) {
    const old = await read(before);
    Object.assign(changed, { left: width, top: height, right: 0, bottom: 0 });
    now.pixels.forEach((pixel, index) => {
      if (pixel === old.pixels[index]) return;
      const [x, y] = [index % width, Math.floor(index / width)];
      changed.left = Math.min(changed.left, x);
      changed.top = Math.min(changed.top, y);
      changed.right = Math.max(changed.right, x + 1);
      changed.bottom = Math.max(changed.bottom, y + 1);
    });
  }
  // Frames must begin at even positions.
  const [x, y] = [changed.left & ~1, changed.top & ~1];
  const size = { width: changed.right - x, height: changed.bottom - y };
  const part = new OffscreenCanvas(size.width, size.height);
  part.getContext('2d').putImageData(now.context.getImageData(x, y, size.width, size.height), 0, 0);
  const blob = await part.convertToBlob({ type: 'image/webp', quality: 1 });
  return { image: (await blob.bytes()).toBase64(), x, y, ...size };
}
