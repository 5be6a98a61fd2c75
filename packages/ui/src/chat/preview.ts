/** What is shown beside the chat: HTML and SVG that the agent has written, and what was shown before. */
import { store } from '../state/store.ts';

export type Preview = { readonly kind: 'html' | 'svg'; readonly code: string };

type Previews = {
  /** the versions that were opened, the last one at the end */
  readonly all: readonly Preview[];
  readonly at: number;
  readonly isOpen: boolean;
};

const MAX_KEPT = 20;

export const previews = store<Previews>({ all: [], at: 0, isOpen: false });

/** Null for code that is not shown. */
export function previewKind(language: string, code: string): Preview['kind'] | null {
  const name = language.toLowerCase();
  if (name === 'html' || name === 'htm') return 'html';
  return name === 'svg' || (name === 'xml' && /^\s*(?:<\?xml[^>]*>\s*)?<svg\b/.test(code)) ? 'svg' : null;
}

export function openPreview(shown: Preview): void {
  const others = previews.get().all.filter(({ code }) => code !== shown.code);
  const all = [...others, shown].slice(-MAX_KEPT);
  previews.set({ all, at: all.length - 1, isOpen: true });
}

export const showPreview = (at: number): void => previews.set({ ...previews.get(), at });
export const closePreview = (): void => previews.set({ ...previews.get(), isOpen: false });
