/** Files beside a message: what is taken, and why not. */
import type { Part } from '@parlance/protocol';

export type Attachment = {
  readonly id: string;
  readonly name: string;
  readonly part: Part;
  /** what can be shown of it */
  readonly preview: string | null;
};

const MEBIBYTE = 1024 * 1024;
export const LIMITS = { files: 10, image: 5 * MEBIBYTE, text: 256 * 1024 } as const;

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
export const ACCEPTED = [
  ...IMAGES,
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

const size = (bytes: number): string =>
  bytes >= MEBIBYTE ? `${(bytes / MEBIBYTE).toFixed(1)} MB` : `${Math.ceil(bytes / 1024)} KB`;

/** One sentence to show, where the file is not taken. */
export function problemWith(
  file: { name: string; type: string; size: number },
  taken: number,
): string | null {
  if (taken >= LIMITS.files) return `“${file.name}” was not added: a message takes ${LIMITS.files} files.`;
  const isImage = file.type.startsWith('image/');
  if (isImage && !IMAGES.includes(file.type))
    return `“${file.name}” was not added: pictures may be PNG, JPEG, GIF or WebP.`;
  const most = isImage ? LIMITS.image : LIMITS.text;
  if (file.size > most)
    return `“${file.name}” was not added: it has ${size(file.size)}, and ${isImage ? 'a picture' : 'a text file'} may have ${size(most)}.`;
  return file.size === 0 ? `“${file.name}” was not added: it is empty.` : null;
}

/** A picture as it is; anything else as text, where it is text. Throws a sentence to show where it is not. */
export async function attachmentOf(file: File): Promise<Attachment> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const { name } = file;
  const id = crypto.randomUUID();
  if (file.type.startsWith('image/')) {
    const data = toBase64(bytes);
    return {
      id,
      name,
      part: { type: 'image', mime: file.type, data },
      preview: `data:${file.type};base64,${data}`,
    };
  }
  return { id, name, part: { type: 'text', text: fenced(name, textOf(bytes, name)) }, preview: null };
}

export class NotText extends Error {}

function textOf(bytes: Uint8Array, name: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
  }
  throw new NotText(`“${name}” was not added: it is neither a picture nor text.`);
}

/** The name and the text, so that every model can read it and every client shows it. */
export function fenced(name: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  const language = /\.(\w{1,10})$/.exec(name)?.[1] ?? '';
  return `File ${name}:\n${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  // In pieces: a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 0x8000)
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}
