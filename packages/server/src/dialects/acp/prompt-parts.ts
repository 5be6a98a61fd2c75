/** In: converts the blocks of a prompt to the parts of an input. */
import { type Part, textPart } from '@parlance/protocol';
import type { Block } from './schemas.ts';

/** The model receives links and embedded resources with name and URI. */
export const partsOf = (blocks: readonly Block[]): Part[] => blocks.map(partOf);

function partOf(block: Block): Part {
  switch (block.type) {
    case 'text':
      return textPart(block.text);
    case 'image':
      return { type: 'image', mime: block.mimeType, data: block.data };
    case 'resource_link':
      return textPart(`[${block.name}](${block.uri})`);
    case 'resource': {
      const { resource } = block;
      const name = nameOf(resource.uri);
      if ('text' in resource) return textPart(`[${name}](${resource.uri}):\n${resource.text}`);
      const mime = resource.mimeType ?? 'application/octet-stream';
      return mime.startsWith('image/')
        ? { type: 'image', mime, data: resource.blob }
        : { type: 'file', name: resource.uri, mime, data: resource.blob };
    }
  }
}

/** The last segment of the URI. */
const nameOf = (uri: string): string =>
  uri
    .replace(/[?#].*$/s, '')
    .split('/')
    .findLast(Boolean) ?? uri;
