/** Schemas of client frames. */
import { Fault, linkPart, type Part, textPart } from '@parlance/protocol';
import { z } from 'zod';

const ContentPart = z.union([
  z.string(),
  z.looseObject({ type: z.string(), text: z.string().optional(), image_url: z.string().optional() }),
]);

/** Items of other types are part of the contract but are ignored: the server keeps the conversation itself. */
const InputItem = z.looseObject({
  type: z.string().optional(),
  role: z.string().optional(),
  content: z.union([z.string(), z.array(ContentPart)]).optional(),
});

const Head = { id: z.string() };

export const ClientFrame = z.discriminatedUnion('type', [
  z.object({
    ...Head,
    type: z.literal('user_input'),
    payload: z.object({ input: z.array(InputItem), previousResponseId: z.string().nullish() }),
  }),
  z.object({
    ...Head,
    type: z.literal('approval_response'),
    payload: z.object({
      review: z.enum(['yes', 'no-exit', 'no-continue', 'always', 'explain']),
      applyPatch: z.unknown().optional(),
      customDenyMessage: z.string().nullish(),
      explanation: z.string().nullish(),
    }),
  }),
  z.object({ ...Head, type: z.literal('get_context_info'), payload: z.unknown().optional() }),
  z.object({ ...Head, type: z.literal('manual_compact'), payload: z.unknown().optional() }),
]);
export type ClientFrame = z.infer<typeof ClientFrame>;

export const KNOWN_TYPES: ReadonlySet<string> = new Set(
  ClientFrame.options.map((option) => option.shape.type.value),
);

/** The parts of the user's messages among the items. */
export const partsOf = (items: readonly z.infer<typeof InputItem>[]): Part[] =>
  items
    .filter((item) => (item.type ?? 'message') === 'message' && (item.role ?? 'user') === 'user')
    .flatMap((item) =>
      typeof item.content === 'string' ? [textPart(item.content)] : (item.content ?? []).map(part),
    );

function part(content: z.infer<typeof ContentPart>): Part {
  if (typeof content === 'string') return textPart(content);
  if (content.text !== undefined) return textPart(content.text);
  const link = linkPart({ kind: 'image', url: content.image_url ?? '' });
  if (link) return link;
  const image = content.image_url?.match(/^data:([\w.+/-]+);base64,([A-Za-z0-9+/]+=*)$/);
  if (!image?.[1] || !image[2]) throw new Fault('invalid', `cannot read content of type ${content.type}`);
  return { type: 'image', mime: image[1], data: image[2] };
}
