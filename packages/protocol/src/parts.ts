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
/** What users and tools write and attach, and what models read. */
export const PromptPart = z.discriminatedUnion('type', [TextPart, ImagePart, FilePart]);
export type PromptPart = z.infer<typeof PromptPart>;

/**
 * A web page that a client sent for the model. It is not part of what the user wrote, and its content is
 * untrusted: readers may show that there was a page, but not its text as a message.
 */
export const PagePart = z.object({
  type: z.literal('page'),
  title: z.string(),
  url: z.string(),
  /** the page as the model reads it, with delimiters around it */
  text: z.string(),
});
export type PagePart = z.infer<typeof PagePart>;

export const Part = z.discriminatedUnion('type', [TextPart, ImagePart, FilePart, PagePart]);
export type Part = z.infer<typeof Part>;

export const textPart = (text: string): PromptPart => ({ type: 'text', text });

/** Null unless the URL is http or https. */
export function linkPart(link: Link): PromptPart | null {
  const { success, data } = Link.safeParse(link);
  if (!success) return null;
  return { type: 'text', text: data.name ? `${data.name}: ${data.url}` : data.url, link: data };
}

/** The parts that were written or attached, without pages. */
export const withoutPages = (parts: readonly Part[]): PromptPart[] =>
  parts.filter((part): part is PromptPart => part.type !== 'page');

/** The parts as the model reads them: pages become text. */
export const promptParts = (parts: readonly Part[]): PromptPart[] =>
  parts.map((part) => (part.type === 'page' ? { type: 'text', text: part.text } : part));

/** The text of the parts, in order, without images, files and pages. */
export function textOf(parts: readonly Part[]): string {
  let text = '';
  for (const part of parts) {
    if (part.type === 'text') text += text === '' ? part.text : `\n${part.text}`;
  }
  return text;
}
