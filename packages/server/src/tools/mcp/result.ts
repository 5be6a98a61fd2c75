/** Converts MCP results to parts: in order, with bounded sizes. */
import type { CallToolResult, GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client';
import { isObject, type JsonObject, type Part, PromptPart, textPart } from '@parlance/protocol';
import { boundedParts } from '../bounded-parts.ts';
import { cutText } from '../cut.ts';

/** Structured data is also sent as text: only small data is included twice. */
const DATA_CHARACTERS = 4_000;
/** Of one resource. */
const MAX_CONTENTS = 5;
const RESOURCE_CHARACTERS = 200_000;

export function partsOf({ content, structuredContent }: CallToolResult): PromptPart[] {
  if (content.length > 0) return boundedParts(content, partOf);
  return [
    textPart(structuredContent === undefined ? '(no output)' : cutText(JSON.stringify(structuredContent))),
  ];
}

/** The messages of a prompt. What they say is shown to the user before it is sent. */
export const promptPartsOf = ({ messages }: GetPromptResult): PromptPart[] =>
  boundedParts(messages, ({ content }) => partOf(content));

/** A resource as an attachment. Unless the server is trusted, its text counts as a page: as untrusted content. */
export function resourcePartsOf({ contents }: ReadResourceResult, server: string, trusted: boolean): Part[] {
  return contents.slice(0, MAX_CONTENTS).map((content) => {
    const name = nameIn(content.uri);
    if (!('text' in content)) return binaryPart(name, content.mimeType, content.blob);
    const text = cutText(content.text, RESOURCE_CHARACTERS);
    if (trusted)
      return binaryPart(name, content.mimeType ?? 'text/plain', Buffer.from(text).toString('base64'));
    const url = cutText(content.uri, 500);
    const body = text.replaceAll('</resource', '<\\/resource');
    return {
      type: 'page',
      title: name,
      url,
      text: `<resource server=${JSON.stringify(server)} uri=${JSON.stringify(url)}>\n${body}\n</resource>`,
    };
  });
}

/** `whole`: also if it is large. */
export function dataOf({ structuredContent }: CallToolResult, whole = false): JsonObject | undefined {
  if (!isObject(structuredContent)) return undefined;
  if (!whole && JSON.stringify(structuredContent).length > DATA_CHARACTERS) return undefined;
  return structuredContent as JsonObject;
}

function partOf(item: CallToolResult['content'][number]): PromptPart {
  switch (item.type) {
    case 'text':
      return textPart(item.text);
    case 'image':
      return binaryPart('image', item.mimeType, item.data);
    case 'audio':
      return binaryPart('audio', item.mimeType, item.data);
    case 'resource_link':
      return textPart([item.title ?? item.name, item.uri, item.description].filter(Boolean).join('\n'));
    case 'resource':
      return 'text' in item.resource
        ? textPart(`${item.resource.uri}\n${item.resource.text}`)
        : binaryPart(nameIn(item.resource.uri), item.resource.mimeType, item.resource.blob);
  }
}

function binaryPart(name: string, mime = 'application/octet-stream', data: string): PromptPart {
  const type = /^image\/(png|jpeg|gif|webp)$/.test(mime) ? 'image' : 'file';
  const part = PromptPart.safeParse(
    type === 'image' ? { type, mime, data } : { type, name, mime: cutText(mime, 100), data },
  );
  return part.success ? part.data : textPart(`[${name}: content that cannot be read]`);
}

/** The last path segment, as a file name. */
const nameIn = (uri: string): string =>
  cutText(
    uri
      .replace(/[?#].*$/, '')
      .split('/')
      .at(-1) || 'resource',
    100,
  );
