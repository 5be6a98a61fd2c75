/** Parts of the core as content of MCP. */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import type { JsonObject, PromptPart } from '@parlance/protocol';

/** Audio and other files are parts of the core; a file's name is the address of a resource. */
export function contentOf(part: PromptPart): ContentBlock {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image', data: part.data, mimeType: part.mime };
    case 'file': {
      const { name, mime, data } = part;
      if (mime.startsWith('audio/')) return { type: 'audio', data, mimeType: mime };
      const uri = /^[a-z][a-z0-9+.-]*:/i.test(name) ? name : `file:///${encodeURIComponent(name)}`;
      return isText(mime)
        ? {
            type: 'resource',
            resource: { uri, mimeType: mime, text: Buffer.from(data, 'base64').toString() },
          }
        : { type: 'resource', resource: { uri, mimeType: mime, blob: data } };
    }
  }
}

const isText = (mime: string): boolean => /^text\/|[/+]json\b|[/+]xml\b/.test(mime);

export const ownResult = (
  parts: readonly PromptPart[],
  data: JsonObject | undefined,
  isError: boolean,
): CallToolResult => ({
  content: parts.map(contentOf),
  ...(data && !isError && { structuredContent: data }),
  ...(isError && { isError }),
});
