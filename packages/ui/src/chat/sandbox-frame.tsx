/**
 * A page that a model or an MCP server has written, in a frame with an origin of its own and a policy that refuses requests: it may do
 * anything inside of it, and nothing outside. No policy refuses WebRTC.
 */
import { type RefObject, useEffect } from 'react';

/** Address of the frame; set by the build. */
declare const PREVIEW_PAGE: string;

type SandboxProps = {
  readonly ref: RefObject<HTMLIFrameElement | null>;
  readonly html: string;
  readonly title: string;
  /** origins that the page may reach; see the policy of the address */
  readonly reaches?: string;
  /** Messages of the page. Use the same function for the lifetime of the page. */
  readonly onMessage?: (data: unknown) => void;
};

/** Give it a `key` for each page: the old one may have changed its frame. */
export function SandboxFrame({ ref, html, title, reaches = '', onMessage }: SandboxProps) {
  useEffect(() => {
    let isWritten = false;
    const listen = ({ source, data }: MessageEvent<{ readonly ready?: unknown } | null>) => {
      const target = ref.current?.contentWindow;
      if (!target || source !== target) return;
      if (isWritten) return onMessage?.(data);
      // The page may say so, too: it is written once.
      if (data?.ready !== true) return;
      isWritten = true;
      target.postMessage({ html }, '*');
    };
    addEventListener('message', listen);
    if (ref.current) ref.current.src = `${PREVIEW_PAGE}${reaches && `?${reaches}`}`;
    return () => removeEventListener('message', listen);
  }, [ref, html, reaches, onMessage]);
  return <iframe ref={ref} title={title} sandbox="allow-scripts" />;
}
