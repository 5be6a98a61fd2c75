/** In: converts the parts of a message to the core. */
import { type Json, type JsonObject, linkPart, type Part, textPart } from '@parlance/protocol';
import { SENT_PARTS } from './messages.ts';
import type { SentPart } from './schemas.ts';

export const coreParts = (parts: readonly SentPart[]): Part[] => parts.map(corePart);

/** The model receives data as JSON, and a URL as a link or as text: the server does not fetch it. */
function corePart(part: SentPart): Part {
  const { text, data, url, raw, mediaType = 'application/octet-stream', filename } = part;
  if (text !== undefined) return textPart(text);
  if (data !== undefined) return textPart(JSON.stringify(data));
  if (url !== undefined) return urlPart(url, part);
  if (mediaType.startsWith('image/')) return { type: 'image', mime: mediaType, data: raw ?? '' };
  return { type: 'file', name: filename ?? 'file', mime: mediaType, data: raw ?? '' };
}

function urlPart(url: string, { mediaType, filename }: SentPart): Part {
  const kind = mediaType?.startsWith('image/') ? 'image' : 'file';
  const about = { ...(mediaType && { mime: mediaType }), ...(filename && { name: filename }) };
  return linkPart({ kind, url, ...about }) ?? textPart(filename ? `${filename}: ${url}` : url);
}

/** For a model that does not accept links: it receives the URL as text. */
export const withoutLinks = (parts: readonly Part[]): Part[] =>
  parts.map((part) => (part.type === 'text' ? textPart(part.text) : part));

/** Data to store with the input, so that the history shows its parts as they were sent. */
export function storedParts(parts: readonly SentPart[]): JsonObject | undefined {
  const isText = ({ text, raw }: SentPart) => text !== undefined || raw !== undefined;
  if (parts.every(isText)) return undefined;
  const stored = parts.map(({ raw, ...part }): Json => {
    const shown = raw === undefined ? part : { text: `[${part.filename ?? 'a file'}]` };
    return JSON.parse(JSON.stringify(shown)) as Json;
  });
  return { [SENT_PARTS]: stored };
}
