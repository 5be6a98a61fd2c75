/** Images and files: data URLs on the wire, bytes in base64 here. */
import { Fault, type Part } from '@parlance/protocol';

type Data = Exclude<Part, { type: 'text' }>;

export const fileUrl = ({ mime, data }: Pick<Data, 'mime' | 'data'>): string => `data:${mime};base64,${data}`;

const DATA_URL = /^data:([^,;]*)((?:;[^,;]*)*),(.*)$/s;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Throws `invalid` for anything but a data URL. */
export function filePart(url: string, mediaType: string, name: string | undefined): Part {
  const [, type = '', options = '', content] = DATA_URL.exec(url) ?? [];
  if (content === undefined) throw new Fault('invalid', 'Files are accepted as data: URLs only.');
  const data = /;base64$/i.test(options) ? content : encoded(content);
  if (!BASE64.test(data) || data.length % 4 !== 0)
    throw new Fault('invalid', 'The data: URL of a file is not valid base64.');
  const mime = (mediaType || type || 'application/octet-stream').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return mime.startsWith('image/')
    ? { type: 'image', mime, data }
    : { type: 'file', name: name || 'file', mime, data };
}

function encoded(content: string): string {
  try {
    return Buffer.from(decodeURIComponent(content)).toString('base64');
  } catch {
    throw new Fault('invalid', 'The data: URL of a file is not valid.');
  }
}
