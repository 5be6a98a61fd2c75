/** Converts parts of the core to message content, and back. */
import { Fault, type Link, linkPart, type Part, textOf, textPart, withoutPages } from '@parlance/protocol';
import type { Content, ContentPart } from './events.ts';
import type { Content as GivenContent, ContentPart as GivenPart } from './schemas.ts';

/** A string if there is only text. */
export function contentOf(given: readonly Part[]): Content {
  const parts = withoutPages(given);
  if (parts.every((part) => part.type === 'text' && !part.link)) return textOf(parts);
  return parts.map((part) => {
    if (part.type === 'text') return part.link ? linkContent(part.link) : { type: 'text', text: part.text };
    const type = part.type === 'image' ? 'image' : 'document';
    return { type, source: { type: 'data', value: part.data, mimeType: part.mime } };
  });
}

const linkContent = ({ kind, url, mime }: Link): ContentPart => ({
  type: kind === 'image' ? 'image' : 'document',
  source: { type: 'url', value: url, ...(mime !== undefined && { mimeType: mime }) },
});

/** Clients show results as text: files are named. */
export function resultOf(parts: readonly Part[]): string {
  return textOf(
    withoutPages(parts).map((part) => (part.type === 'text' ? part : textPart(`[${part.mime}]`))),
  );
}

/** Throws `invalid` for unsupported content. `where` names the field. */
export function partsOf(content: GivenContent, where: string): Part[] {
  if (typeof content === 'string') return [textPart(content)];
  const parts = content.map((part, index) => partOf(part, `${where}[${index}]`));
  return parts.length > 0 ? parts : [textPart('')];
}

function partOf(part: GivenPart, where: string): Part {
  switch (part.type) {
    case 'text':
      return textPart(part.text);
    case 'binary': {
      const { mimeType: mime, data, filename, url } = part;
      const kind = mime.startsWith('image/') ? 'image' : 'file';
      const link = url ? linkPart({ kind, url, mime, ...(filename && { name: filename }) }) : null;
      return link ?? filePart({ mime, data: data ?? '', name: filename ?? 'file' }, where);
    }
    default: {
      const { type, value, mimeType: mime } = part.source;
      const kind = part.type === 'image' ? 'image' : 'file';
      const link = type === 'url' ? linkPart({ kind, url: value, ...(mime && { mime }) }) : null;
      return (
        link ?? filePart({ mime: mime ?? '', data: type === 'data' ? value : '', name: part.type }, where)
      );
    }
  }
}

const MIME = /^[\w.+-]+\/[\w.+-]+$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

function filePart(
  { mime, data, name }: { readonly mime: string; readonly data: string; readonly name: string },
  where: string,
): Part {
  if (!MIME.test(mime) || !BASE64.test(data))
    throw new Fault(
      'invalid',
      `${where}: files are taken as base64 data with a mimeType, and as http(s): URLs.`,
    );
  return mime.startsWith('image/') ? { type: 'image', mime, data } : { type: 'file', name, mime, data };
}
