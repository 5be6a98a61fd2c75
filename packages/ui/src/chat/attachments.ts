/** Attachments of a message: validation and conversion. */
import type { Part } from '@parlance/protocol';
import { DOCUMENT_LIMITS, Unreadable } from '../documents/limits.ts';
import { documentKind, readDocument } from '../documents/read-document.ts';

export type Attachment = {
  readonly id: string;
  readonly name: string;
  readonly part: Part;
  readonly bytes: number;
  /** preview, if there is one */
  readonly preview: string | null;
  /** a sentence about what is missing */
  readonly note: string | null;
};

const MEBIBYTE = 1024 * 1024;
/** The total fits into the server's request limit. */
export const LIMITS = { files: 10, image: 5 * MEBIBYTE, text: 256 * 1024, together: 7 * MEBIBYTE } as const;

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
export const ACCEPTED = [
  ...IMAGES,
  '.pdf',
  '.docx',
  '.pptx',
  '.xlsx',
  '.csv',
  'text/*',
  '.md',
  '.json',
  '.ts',
  '.tsx',
  '.js',
  '.py',
  '.rs',
  '.go',
  '.yaml',
  '.toml',
  '.log',
].join();

export const size = (bytes: number): string =>
  bytes >= MEBIBYTE ? `${(bytes / MEBIBYTE).toFixed(1)} MB` : `${Math.ceil(bytes / 1024)} KB`;

const OLD_FORMAT = /\.(?:doc|xls|ppt)$/i;

/** One sentence to show, where the file is not taken. */
export function problemWith(
  file: { name: string; type: string; size: number },
  taken: readonly { readonly bytes: number }[],
): string | null {
  if (taken.length >= LIMITS.files)
    return `“${file.name}” was not added: a message can have ${LIMITS.files} files.`;
  const isImage = file.type.startsWith('image/');
  if (isImage && !IMAGES.includes(file.type))
    return `“${file.name}” was not added: images must be PNG, JPEG, GIF or WebP.`;
  if (OLD_FORMAT.test(file.name))
    return `“${file.name}” was not added: save it in a current format, such as .docx, .xlsx or .pptx.`;
  const isDocument = documentKind(file.name) !== null;
  const [most, what] = isImage
    ? [LIMITS.image, 'images']
    : isDocument
      ? [DOCUMENT_LIMITS.bytes, 'documents']
      : [LIMITS.text, 'text files'];
  if (file.size > most)
    return `“${file.name}” was not added: it is ${size(file.size)}, and the limit for ${what} is ${size(most)}.`;
  // Only the text of a document is sent.
  const together = taken.reduce((sum, { bytes }) => sum + bytes, isDocument ? 0 : file.size);
  if (together > LIMITS.together)
    return `“${file.name}” was not added: the files of a message are limited to ${size(LIMITS.together)} in total.`;
  return file.size === 0 ? `“${file.name}” was not added: it is empty.` : null;
}

/** A picture unchanged; any other file as text, so that models can read it. Throws `NotAdded`. */
export async function attachmentOf(file: File): Promise<Attachment> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const { name } = file;
  const id = crypto.randomUUID();
  if (file.type.startsWith('image/')) {
    const data = toBase64(bytes);
    return {
      id,
      name,
      bytes: bytes.length,
      part: { type: 'image', mime: file.type, data },
      preview: `data:${file.type};base64,${data}`,
      note: null,
    };
  }
  const kind = documentKind(name);
  if (kind !== null) {
    const { text, note } = await readDocument(bytes, kind).catch((thrown: unknown) => {
      if (thrown instanceof Unreadable) throw new NotAdded(`“${name}” was not added: ${thrown.message}`);
      throw thrown;
    });
    const read = new TextEncoder().encode(note === null ? text : `${text}\n[${note}]\n`);
    const part: Part = { type: 'file', name, mime: 'text/plain', data: toBase64(read) };
    return { id, name, bytes: read.length, part, preview: null, note: note && `“${name}”: ${note}` };
  }
  checkText(bytes, name);
  const mime = file.type.startsWith('text/') || file.type === 'application/json' ? file.type : 'text/plain';
  return {
    id,
    name,
    bytes: bytes.length,
    part: { type: 'file', name, mime, data: toBase64(bytes) },
    preview: null,
    note: null,
  };
}

/** Parts that a server has made, such as those of a resource. Texts are left out. */
export const attachmentsOf = (parts: readonly Part[]): Attachment[] =>
  parts.flatMap((part) => {
    if (part.type === 'text') return [];
    const name = part.type === 'image' ? 'image' : part.type === 'page' ? part.title : part.name;
    const bytes = part.type === 'page' ? part.text.length : Math.floor(part.data.length * 0.75);
    const preview = part.type === 'image' ? `data:${part.mime};base64,${part.data}` : null;
    return [{ id: crypto.randomUUID(), name, part, bytes, preview, note: null }];
  });

/** Its message is a sentence to show. */
export class NotAdded extends Error {}

function checkText(bytes: Uint8Array, name: string): void {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return;
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
  }
  throw new NotAdded(
    `“${name}” was not added: it is neither an image nor text, nor a document that can be read.`,
  );
}

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  // In pieces: a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 0x8000)
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}
