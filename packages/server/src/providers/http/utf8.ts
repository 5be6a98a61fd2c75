/** Decodes UTF-8 that is split anywhere. */
export class Utf8 {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** the decoder may hold the beginning of a character */
  #cut = false;

  /** Hot path: runs per token. Creates no view of the bytes, which would cost more than the text. */
  read(bytes: Buffer, start: number, end: number): string {
    if (start === end) return '';
    const whole = (bytes[end - 1] as number) < 0x80;
    if (whole && !this.#cut) return bytes.toString('utf8', start, end);
    this.#cut = !whole;
    return this.#decoder.decode(bytes.subarray(start, end), { stream: true });
  }

  /** The replacement of an incomplete last character. */
  end(): string {
    return this.#cut ? this.#decoder.decode() : '';
  }
}
