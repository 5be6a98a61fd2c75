/** The panel beside the chat: what the agent has written, or the app of an MCP server, in a sandboxed frame. */
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from 'react';
import { IconButton } from '../components/controls.tsx';
import { CanPreview } from '../markdown/code-block.tsx';
import { Markdown } from '../markdown/markdown.tsx';
import { useStore } from '../state/store.ts';
import type { Mode } from './app-host.ts';
import { AppView } from './app-view.tsx';
import { closePreview, previewKey, previews, showPreview, type WrittenPreview } from './preview.ts';
import { SandboxFrame } from './sandbox-frame.tsx';

export function PreviewPanel() {
  const { all, at } = useStore(previews);
  const panel = useRef<HTMLElement>(null);
  const closing = useRef<(() => Promise<void>) | null>(null);
  const [mode, setMode] = useState<Mode>('inline');
  const shown = all[at];
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);
  const close = useCallback(() => void (closing.current?.() ?? Promise.resolve()).then(closePreview), []);
  if (!shown) return null;
  const isApp = shown.kind === 'app';
  const isFull = isApp && mode === 'fullscreen';
  const title = isApp ? 'App' : 'Preview';
  const show = (next: number) =>
    void (closing.current?.() ?? Promise.resolve()).then(() => showPreview(next));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close();
  };
  return (
    <aside
      className="preview"
      data-mode={isFull ? 'full' : undefined}
      aria-label={title}
      tabIndex={-1}
      ref={panel}
      onKeyDown={onKeyDown}
    >
      <div className="preview-head">
        <h2>{title}</h2>
        {all.length > 1 && (
          <span className="versions">
            <IconButton
              icon="back"
              label="Earlier preview"
              disabled={at === 0}
              onClick={() => show(at - 1)}
            />
            {at + 1}/{all.length}
            <IconButton
              icon="chevron"
              label="Later preview"
              disabled={at === all.length - 1}
              onClick={() => show(at + 1)}
            />
          </span>
        )}
        {isApp && (
          <IconButton
            icon="zoom"
            label={isFull ? 'Show beside the chat' : 'Fill the window'}
            className="preview-fill"
            onClick={() => setMode(isFull ? 'inline' : 'fullscreen')}
          />
        )}
        <IconButton icon="close" label={`Close ${title.toLowerCase()}`} onClick={close} />
      </div>
      {isApp ? (
        <AppView
          key={previewKey(shown)}
          session={shown.session}
          call={shown.call}
          {...{ mode, closing }}
          onMode={setMode}
          onClose={close}
        />
      ) : (
        <>
          <Previewed key={previewKey(shown)} {...shown} />
          <p className="hint">Written by the agent. It loads no files, and sees nothing of this page.</p>
        </>
      )}
    </aside>
  );
}

/** Pages run in a frame. Markdown and diagrams are drawn as in an answer, which has no scripts. */
export function Previewed({ kind, code }: WrittenPreview) {
  if (kind === 'html' || kind === 'svg') return <WrittenPage html={code} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <div className="previewed" tabIndex={0}>
      <CanPreview value={false}>
        <Markdown text={kind === 'markdown' ? code : `~~~~~~mermaid\n${code}\n~~~~~~`} />
      </CanPreview>
    </div>
  );
}

/** SVG is shown as part of a page, too. */
function WrittenPage({ html }: { readonly html: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  return <SandboxFrame ref={frame} html={html} title="Preview of what the agent wrote" />;
}
