import { openApiText } from './document.ts';

let text: string | null = null;

/** Made once. */
export function servedDocument(): string {
  text ??= openApiText();
  return text;
}
