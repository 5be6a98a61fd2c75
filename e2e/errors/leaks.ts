/** Collects all received text, and finds text that must never be in a response. */
import { dirname, join } from 'node:path';

/** Part of paths and codes in errors of vendors and tools, but of no request. */
export const MARKER = 'quagmire-marker';

const REPOSITORY = dirname(dirname(import.meta.dir));
const PATTERNS: readonly (string | RegExp)[] = [
  /\bat .*\.[cm]?[jt]sx?:\d+/,
  /\.[cm]?[jt]sx?:\d+:\d+/,
  /\b(?:Type|Syntax|Reference|Range|Zod|SQLite)Error\b/,
  /\bE(?:NOENT|ACCES|CONNREFUSED|NOTDIR|ISDIR)\b/,
  /\bSQLITE_[A-Z]+/,
  /<title>Internal Server Error|bunfallback/i,
  'node_modules',
  'packages/server/src',
  REPOSITORY,
  MARKER,
];

export class CollectedText {
  readonly #texts: { readonly from: string; readonly text: string }[] = [];

  constructor(private readonly data: string) {}

  add(from: string, text: string): void {
    this.#texts.push({ from, text });
  }

  get size(): number {
    return this.#texts.length;
  }

  /** Each leak with its context. */
  leaks(): string[] {
    const patterns = [...PATTERNS, this.data, join(this.data, '..', 'data')];
    return this.#texts.flatMap(({ from, text }) =>
      patterns.flatMap((pattern) => {
        const at = typeof pattern === 'string' ? text.indexOf(pattern) : text.search(pattern);
        return at < 0 ? [] : [`${from}: ${text.slice(Math.max(0, at - 80), at + 120)}`];
      }),
    );
  }
}
