/** Finds lines in a file, first exactly, then increasingly leniently. */

/** From strict to lenient. A later strict match is better than an earlier lenient one. */
const READINGS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) => foldLookAlikes(line).trim(),
];

/** The first index at or after `from` at which `wanted` matches, or -1. `atEnd`: only as the last lines. */
export function seekLines(
  lines: readonly string[],
  wanted: readonly string[],
  { from, atEnd = false }: { readonly from: number; readonly atEnd?: boolean },
): number {
  const last = lines.length - wanted.length;
  for (const reading of READINGS) {
    const sought = wanted.map(reading);
    for (let start = atEnd ? Math.max(from, last) : from; start <= last; start++) {
      if (sought.every((line, index) => reading(lines[start + index] ?? '') === line)) return start;
    }
  }
  return -1;
}

/** Replaces characters that models and editors substitute for plain ones. */
function foldLookAlikes(line: string): string {
  return line
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' ');
}
