/**
 * Draws diagrams in a sandboxed frame with an origin of its own: Mermaid needs inline styles, which the policy of the page
 * forbids, and reads what a model has written.
 */

/** Address of the frame; set by the build. */
declare const DIAGRAM_PAGE: string;

const TIMEOUT_MS = 15_000;
const MAX_SVG_LENGTH = 2_000_000;

type Drawn = { readonly id?: unknown; readonly svg?: unknown; readonly ready?: unknown };

let frame: Promise<Window> | null = null;
let last = 0;

function openFrame(): Promise<Window> {
  const element = document.createElement('iframe');
  element.setAttribute('sandbox', 'allow-scripts');
  element.setAttribute('aria-hidden', 'true');
  element.title = 'Draws diagrams';
  element.tabIndex = -1;
  element.className = 'diagram-frame';
  element.src = DIAGRAM_PAGE;
  const { promise, resolve } = Promise.withResolvers<Window>();
  addEventListener('message', function listen({ source, data }: MessageEvent<Drawn>) {
    if (source === null || source !== element.contentWindow || data?.ready !== true) return;
    removeEventListener('message', listen);
    resolve(element.contentWindow);
  });
  document.body.append(element);
  return promise;
}

/** Null if it is no diagram, or takes too long. */
export async function drawDiagram(source: string, dark: boolean): Promise<string | null> {
  const id = ++last;
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const timer = setTimeout(() => resolve(null), TIMEOUT_MS);
  let target: Window | null = null;
  function listen({ source: from, data }: MessageEvent<Drawn>): void {
    if (from === null || from !== target || data?.id !== id) return;
    const { svg } = data;
    resolve(typeof svg === 'string' && svg.length <= MAX_SVG_LENGTH ? svg : null);
  }
  addEventListener('message', listen);
  frame ??= openFrame();
  void frame.then((opened) => {
    target = opened;
    // The frame has no origin that could be named.
    opened.postMessage({ id, source, dark }, '*');
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    removeEventListener('message', listen);
  }
}
