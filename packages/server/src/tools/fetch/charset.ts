/** Decodes the bytes of a page in its declared or detected encoding. */

/** A declaration must be near the beginning: https://html.spec.whatwg.org/#determining-the-character-encoding */
const PRESCAN_BYTES = 1_024;
const DECLARED = /<meta[^>]+charset\s*=\s*["']?\s*([\w:.-]+)|^<\?xml[^>]+encoding\s*=\s*["']([\w:.-]+)/i;

/** Never throws: invalid bytes become replacement characters. */
export function decodeText(bytes: Uint8Array, charset: string | null): string {
  const label = markOf(bytes) ?? charset ?? declaredIn(bytes);
  const decoder = label === null ? null : decoderFor(label);
  return decoder ? decoder.decode(bytes) : guessed(bytes);
}

function markOf(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return null;
}

function declaredIn(bytes: Uint8Array): string | null {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, PRESCAN_BYTES));
  const match = DECLARED.exec(head);
  const label = (match?.[1] ?? match?.[2] ?? null)?.toLowerCase() ?? null;
  // A declaration readable as bytes cannot be in UTF-16, even if it says so.
  return label?.startsWith('utf-16') ? 'utf-8' : label;
}

function decoderFor(label: string): TextDecoder | null {
  try {
    return new TextDecoder(label as Bun.Encoding);
  } catch {
    return null;
  }
}

function guessed(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
