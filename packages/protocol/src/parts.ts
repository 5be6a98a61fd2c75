/** Content: what an input and a tool's output are made of. */
import { z } from 'zod';

export const TextPart = z.object({ type: z.literal('text'), text: z.string() });
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

/** The text of the parts, in order; images and files are left out. */
export function textOf(parts: readonly Part[]): string {
  let text = '';
  for (const part of parts) {
    if (part.type === 'text') text += text === '' ? part.text : `\n${part.text}`;
  }
  return text;
}
