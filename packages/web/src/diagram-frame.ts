/** Runs in the sandboxed frame: Mermaid source in, SVG out. */
import mermaid from 'mermaid';

type DiagramRequest = { readonly id: number; readonly source: string; readonly dark: boolean };

addEventListener('message', ({ data, source }: MessageEvent<DiagramRequest>) => {
  if (source === parent) void draw(data);
});

async function draw({ id, source, dark }: DiagramRequest): Promise<void> {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    theme: dark ? 'dark' : 'default',
    fontFamily: 'system-ui, sans-serif',
    htmlLabels: false,
    flowchart: { htmlLabels: false, useMaxWidth: false },
    maxTextSize: 20_000,
    maxEdges: 300,
    suppressErrorRendering: true,
  });
  try {
    const { svg } = await mermaid.render(`diagram-${id}`, source);
    parent.postMessage({ id, svg: sized(svg) }, '*');
  } catch {
    // Not a diagram (yet): the page shows the source.
    parent.postMessage({ id, svg: null }, '*');
  }
}

/** An image needs a size of its own; most kinds of diagrams only have a width of 100%. */
function sized(svg: string): string {
  const [, width, height] = /^<svg[^>]* viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/.exec(svg) ?? [];
  if (width === undefined) return svg;
  return svg.replace(/^(<svg[^>]*?) width="100%"/, `$1 width="${width}" height="${height}"`);
}

parent.postMessage({ ready: true }, '*');
