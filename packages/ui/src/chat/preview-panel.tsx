/**
 * The panel beside the chat. The frame has an origin of its own and a policy that refuses requests:
 * what a model has written may do anything inside of it, and nothing outside. No policy refuses WebRTC.
 */
import { type KeyboardEvent, useEffect, useRef } from 'react';
import { IconButton } from '../components/controls.tsx';
import { useStore } from '../state/store.ts';
import { closePreview, previews, showPreview } from './preview.ts';

/** Address of the frame; set by the build. */
declare const PREVIEW_PAGE: string;

export function PreviewPanel() {
  const { all, at } = useStore(previews);
  const panel = useRef<HTMLElement>(null);
  const shown = all[at];
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);
  if (!shown) return null;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') closePreview();
  };
  return (
    <aside className="preview" aria-label="Preview" tabIndex={-1} ref={panel} onKeyDown={onKeyDown}>
      <div className="preview-head">
        <h2>Preview</h2>
        {all.length > 1 && (
          <span className="versions">
            <IconButton
              icon="back"
              label="Earlier preview"
              disabled={at === 0}
              onClick={() => showPreview(at - 1)}
            />
            {at + 1}/{all.length}
            <IconButton
              icon="chevron"
              label="Later preview"
              disabled={at === all.length - 1}
              onClick={() => showPreview(at + 1)}
            />
          </span>
        )}
        <IconButton icon="close" label="Close preview" onClick={closePreview} />
      </div>
      <PreviewFrame key={shown.code} html={shown.code} />
      <p className="hint">Written by the agent. It loads no files, and sees nothing of this page.</p>
    </aside>
  );
}

/** SVG is shown as part of a page, too. A new frame for each version: the old one may have changed its page. */
function PreviewFrame({ html }: { readonly html: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const listen = ({ source, data }: MessageEvent<{ readonly ready?: unknown }>) => {
      const target = frame.current?.contentWindow;
      if (!target || source !== target || data?.ready !== true) return;
      // The page may say so, too: it is written once.
      removeEventListener('message', listen);
      target.postMessage({ html }, '*');
    };
    addEventListener('message', listen);
    if (frame.current) frame.current.src = PREVIEW_PAGE;
    return () => removeEventListener('message', listen);
  }, [html]);
  return <iframe ref={frame} title="Preview of what the agent wrote" sandbox="allow-scripts" />;
}
