/** Limits the output of one call. */
import { type JsonObject, type Part, textPart } from '@parlance/protocol';

/** In characters, across all parts. */
const OUTPUT_LIMIT = 100_000;

/** Limits the text of all parts to `OUTPUT_LIMIT` characters, with a marker in place of removed text. */
export function cappedParts(parts: readonly Part[]): Part[] {
  let left = OUTPUT_LIMIT;
  return parts.map((part) => {
    if (part.type !== 'text') return part;
    const text = capped(part.text, left);
    left = Math.max(0, left - part.text.length);
    return textPart(text);
  });
}

/** Cuts long strings. Drops data that is still too large, since the parts contain it as well. */
export function cappedData(data: JsonObject | undefined): JsonObject | undefined {
  if (!data || sizeOf(data) <= OUTPUT_LIMIT) return data;
  const cut = Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      typeof value === 'string' ? capped(value, OUTPUT_LIMIT / 2) : value,
    ]),
  );
  return sizeOf(cut) <= OUTPUT_LIMIT ? cut : undefined;
}

const sizeOf = (data: JsonObject): number => JSON.stringify(data).length;

function capped(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  const note = `\n… ${text.length - half * 2} characters left out …\n`;
  return (text.slice(0, half) + note + text.slice(text.length - half)).toWellFormed();
}
