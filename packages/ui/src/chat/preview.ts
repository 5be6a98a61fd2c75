/**
 * What is shown beside the chat: code that the agent has written and that can be looked at, apps of MCP servers, or files of the
 * working folder.
 */
import type { CallView } from '@parlance/sdk';
import { store } from '../state/store.ts';

export type PreviewKind = 'html' | 'svg' | 'markdown' | 'mermaid';
export type WrittenPreview = { readonly kind: PreviewKind; readonly code: string };
export type Preview =
  | WrittenPreview
  /** the app of a call of the session */
  | { readonly kind: 'app'; readonly session: string; readonly call: CallView };

type Previews = {
  /** those that were opened, the last one at the end */
  readonly all: readonly Preview[];
  readonly at: number;
  readonly isOpen: boolean;
};

const MAX_KEPT = 20;

export const previews = store<Previews>({ all: [], at: 0, isOpen: false });

const KINDS: Readonly<Record<string, PreviewKind>> = {
  html: 'html',
  htm: 'html',
  svg: 'svg',
  markdown: 'markdown',
  md: 'markdown',
  mermaid: 'mermaid',
  mmd: 'mermaid',
};

/** By the language of a block or the ending of a file; null for code that is not shown. */
export function previewKind(language: string, code: string): PreviewKind | null {
  const name = language.toLowerCase();
  const isSvg = name === 'xml' && /^\s*(?:<\?xml[^>]*>\s*)?<svg\b/.test(code);
  return isSvg ? 'svg' : Object.hasOwn(KINDS, name) ? (KINDS[name] ?? null) : null;
}

/** The same for what is the same. */
export const previewKey = (shown: Preview): string =>
  shown.kind === 'app' ? `${shown.session} ${shown.call.call}` : shown.code;

export function openPreview(shown: Preview): void {
  const others = previews.get().all.filter((other) => previewKey(other) !== previewKey(shown));
  const all = [...others, shown].slice(-MAX_KEPT);
  closeFiles();
  previews.set({ all, at: all.length - 1, isOpen: true });
}

export const showPreview = (at: number): void => previews.set({ ...previews.get(), at });
export const closePreview = (): void => previews.set({ ...previews.get(), isOpen: false });

// Files of the working folder.

/** A folder, or a file in it. Paths are relative to the working folder of the session; `.` is that folder. */
export type ShownFiles = { readonly session: string; readonly path: string; readonly isFile: boolean };

export const shownFiles = store<ShownFiles | null>(null);

export function openFiles(session: string, path = '.', isFile = false): void {
  closePreview();
  shownFiles.set({ session, path, isFile });
}

export const closeFiles = (): void => shownFiles.set(null);

// Paths for the message that is being written.

let write: ((path: string) => void) | null = null;

/** Names a file in the message that is being written. */
export const mention = (path: string): void => write?.(path);

/** The field receives mentions until the returned function is called. */
export function receiveMentions(receive: (path: string) => void): () => void {
  write = receive;
  return () => {
    if (write === receive) write = null;
  };
}
