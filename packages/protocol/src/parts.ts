/** Content of inputs and tool outputs. */
import { z } from 'zod';

/** Maximum length of a link's URL; signed URLs are long. */
const MAX_URL_LENGTH = 8_192;

/** An image or a file on the web. The server never fetches it; vendors of some models do. */
export const Link = z.object({
  kind: z.enum(['image', 'file']),
  url: z
    .url({ protocol: /^https?$/ })
    .regex(/^\S+$/)
    .max(MAX_URL_LENGTH),
  name: z.string().max(500).optional(),
  mime: z.string().max(200).optional(),
});
export type Link = z.infer<typeof Link>;

export const TextPart = z.object({
  type: z.literal('text'),
  text: z.string(),
  /** the link that the text stands for, for clients and models that support links */
  link: Link.optional(),
});
export const ImagePart = z.object({ type: z.literal('image'), mime: z.string(), data: z.base64() });
export const FilePart = z.object({
  type: z.literal('file'),
  name: z.string(),
  mime: z.string(),
  data: z.base64(),
});

export const Part = z.discriminatedUnion('type', [TextPart, ImagePart, FilePart]);
export type Part = z.infer<typeof Part>;

export const textPart = (text: string): Part => ({ type: 'text', text });

/** Null unless the URL is http or https. */
export function linkPart(link: Link): Part | null {
  const { success, data } = Link.safeParse(link);
  if (!success) return null;
  return { type: 'text', text: data.name ? `${data.name}: ${data.url}` : data.url, link: data };
}

/** The text of the parts, in order, without images and files. */
export function textOf(parts: readonly Part[]): string {
  let text = '';
  for (const part of parts) {
    if (part.type === 'text') text += text === '' ? part.text : `\n${part.text}`;
  }
  return text;
}
