/** What is read of a document, at most. Documents come from anywhere: whatever they claim, reading them ends. */

const MEBIBYTE = 1024 * 1024;

export const DOCUMENT_LIMITS = {
  /** of the file */
  bytes: 20 * MEBIBYTE,
  /** of its unpacked parts together, and how many parts a file may list */
  unpacked: 64 * MEBIBYTE,
  parts: 10_000,
  /** characters of the text */
  text: 200_000,
  /** of a PDF; slides and sheets */
  pages: 500,
  /** of a sheet */
  columns: 200,
  /** then the worker is stopped */
  milliseconds: 30_000,
} as const;

/** Its message ends the sentence “name was not added: …”. */
export class Unreadable extends Error {}

/** The text of a document; what is above the limit is left out. */
export class DocumentText {
  #parts: string[] = [];
  #length = 0;
  #last = '\n';
  /** a sentence about what was left out */
  note: string | null = null;

  get isFull(): boolean {
    return this.#length >= DOCUMENT_LIMITS.text;
  }

  add(text: string): void {
    if (text === '') return;
    const room = DOCUMENT_LIMITS.text - this.#length;
    if (text.length > room) this.note ??= 'Only the beginning of its text was added.';
    if (room <= 0) return;
    const added = text.slice(0, room);
    this.#parts.push(added);
    this.#length += added.length;
    this.#last = added.at(-1) ?? this.#last;
  }

  /** Ends the line, unless it is empty. */
  endLine(): void {
    if (this.#last !== '\n') this.add('\n');
  }

  /** A reference that the model can cite, such as `[Page 3]`. */
  begin(reference: string): void {
    this.endLine();
    this.add(`${this.#length === 0 ? '' : '\n'}[${reference}]\n`);
  }

  toString(): string {
    return this.#parts.join('');
  }
}
