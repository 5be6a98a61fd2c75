/** Parts of the core as content of a message, and back. */
import { Fault, type Part, textOf, textPart } from '@parlance/protocol';
import type { Content } from './events.ts';
import type { ContentPart, Content as GivenContent } from './schemas.ts';

/** A string if there is nothing but text. */
export function contentOf(parts: readonly Part[]): Content {
  if (parts.every(({ type }) => type === 'text')) return textOf(parts);
  return parts.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    const type = part.type === 'image' ? 'image' : 'document';
    return { type, source: { type: 'data', value: part.data, mimeType: part.mime } };
  });
}

/** A result is text for clients: files are named. */
export function resultOf(parts: readonly Part[]): string {
  return textOf(parts.map((part) => (part.type === 'text' ? part : textPart(`[${part.mime}]`))));
}

/** Throws `invalid` for what cannot be taken. `where` names the field. */
export function partsOf(content: GivenContent, where: string): Part[] {
  if (typeof content === 'string') return [textPart(content)];
  const parts = content.map((part, index) => partOf(part, `${where}[${index}]`));
  return parts.length > 0 ? parts : [textPart('')];
}

function partOf(part: ContentPart, where: string): Part {
  switch (part.type) {
    case 'text':
      return textPart(part.text);
    case 'binary':
      return filePart({ mime: part.mimeType, data: part.data ?? '', name: part.filename ?? 'file' }, where);
    default: {
      const { type, value, mimeType } = part.source;
      return filePart({ mime: mimeType ?? '', data: type === 'data' ? value : '', name: part.type }, where);
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
    throw new Fault('invalid', `${where}: files are taken as base64 data with a mimeType only.`);
  return mime.startsWith('image/') ? { type: 'image', mime, data } : { type: 'file', name, mime, data };
}
