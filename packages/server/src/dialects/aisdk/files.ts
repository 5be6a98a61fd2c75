/** Images and files: URLs in messages; bytes in base64 or links in the core. */
import { Fault, type Link, linkPart, type Part, type PromptPart } from '@parlance/protocol';

type Data = Exclude<PromptPart, { type: 'text' }>;

export const fileUrl = ({ mime, data }: Pick<Data, 'mime' | 'data'>): string => `data:${mime};base64,${data}`;

const DATA_URL = /^data:([^,;]*)((?:;[^,;]*)*),(.*)$/s;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export type FileUrl = {
  readonly url: string;
  readonly mediaType: string;
  readonly filename?: string | undefined;
};

/** Throws `invalid` unless the URL is an http, https or data URL. */
export function filePart({ url, mediaType, filename: name }: FileUrl): Part {
  const link = linkOf(url, mediaType, name);
  if (link) return link;
  const [, type = '', options = '', content] = DATA_URL.exec(url) ?? [];
  if (content === undefined)
    throw new Fault('invalid', 'Files are accepted as http:, https: and data: URLs only.');
  const data = /;base64$/i.test(options) ? content : encoded(content);
  if (!BASE64.test(data) || data.length % 4 !== 0)
    throw new Fault('invalid', 'The data: URL of a file is not valid base64.');
  const mime = mimeOf(mediaType || type || 'application/octet-stream');
  return mime.startsWith('image/')
    ? { type: 'image', mime, data }
    : { type: 'file', name: name || 'file', mime, data };
}

const mimeOf = (mediaType: string): string => mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** `image/*` is the type of an image of unknown type. */
function linkOf(url: string, mediaType: string, name: string | undefined): Part | null {
  const mime = mimeOf(mediaType);
  const kind = mime.startsWith('image/') ? 'image' : 'file';
  return linkPart({ kind, url, ...(mime.includes('*') || !mime ? {} : { mime }), ...(name && { name }) });
}

/** The part of a UI message for a link. */
export const linkedFile = ({ kind, url, mime, name }: Link) => ({
  type: 'file' as const,
  mediaType: mime ?? (kind === 'image' ? 'image/*' : 'application/octet-stream'),
  ...(name !== undefined && { filename: name }),
  url,
});

function encoded(content: string): string {
  try {
    return Buffer.from(decodeURIComponent(content)).toString('base64');
  } catch {
    throw new Fault('invalid', 'The data: URL of a file is not valid.');
  }
}
