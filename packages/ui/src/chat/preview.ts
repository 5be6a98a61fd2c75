/** What is shown beside the chat: HTML and SVG that the agent has written, apps of MCP servers, and what was shown before. */
import type { CallView } from '@parlance/sdk';
import { store } from '../state/store.ts';

export type Preview =
  | { readonly kind: 'html' | 'svg'; readonly code: string }
  /** the app of a call of the session */
  | { readonly kind: 'app'; readonly session: string; readonly call: CallView };

type Previews = {
  /** the versions that were opened, the last one at the end */
  readonly all: readonly Preview[];
  readonly at: number;
  readonly isOpen: boolean;
};

const MAX_KEPT = 20;

export const previews = store<Previews>({ all: [], at: 0, isOpen: false });

/** Null for code that is not shown. */
export function previewKind(language: string, code: string): 'html' | 'svg' | null {
  const name = language.toLowerCase();
  if (name === 'html' || name === 'htm') return 'html';
  return name === 'svg' || (name === 'xml' && /^\s*(?:<\?xml[^>]*>\s*)?<svg\b/.test(code)) ? 'svg' : null;
}

/** The same for what is the same. */
export const previewKey = (shown: Preview): string =>
  shown.kind === 'app' ? `${shown.session} ${shown.call.call}` : shown.code;

export function openPreview(shown: Preview): void {
  const others = previews.get().all.filter((other) => previewKey(other) !== previewKey(shown));
  const all = [...others, shown].slice(-MAX_KEPT);
  previews.set({ all, at: all.length - 1, isOpen: true });
}

export const showPreview = (at: number): void => previews.set({ ...previews.get(), at });
export const closePreview = (): void => previews.set({ ...previews.get(), isOpen: false });
