/** Captures a page as an animation. Another page encodes it. */
import type { Page } from 'playwright-core';
import { encodeChange } from './encode-change.ts';
import { animatedWebp, type Frame } from './webp.ts';

type CapturedFrame = { readonly png: Buffer; durationMs: number };

export class Film {
  readonly #taken: CapturedFrame[] = [];

  constructor(
    private readonly page: Page,
    private readonly encoder: Page,
  ) {}

  get frames(): number {
    return this.#taken.length;
  }

  get durationMs(): number {
    return this.#taken.reduce((sum, { durationMs }) => sum + durationMs, 0);
  }

  /** Shows the page as it is now, for this duration. */
  async hold(durationMs: number): Promise<void> {
    const png = await this.page.screenshot();
    const last = this.#taken.at(-1);
    if (last?.png.equals(png)) last.durationMs += durationMs;
    else this.#taken.push({ png, durationMs });
  }

  /** The animation as WebP. */
  async develop(): Promise<Uint8Array> {
    const frames: Frame[] = [];
    let before: string | null = null;
    for (const { png, durationMs } of this.#taken) {
      const picture = `data:image/png;base64,${png.toString('base64')}`;
      const { image, ...place } = await this.encoder.evaluate(encodeChange, [before, picture] as const);
      frames.push({ ...place, image: Buffer.from(image, 'base64'), durationMs });
      before = picture;
    }
    const [{ width, height } = { width: 0, height: 0 }] = frames;
    return animatedWebp(width, height, frames);
  }
}
