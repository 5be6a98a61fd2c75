/** A Mermaid diagram: its source while it is written, then a picture. */
import { memo, useDeferredValue, useEffect, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Picture } from '../components/picture.tsx';
import { useDark } from '../state/theme.ts';
import { CodeBlock } from './code-block.tsx';

/** Longer diagrams stay source. */
const MAX_LENGTH = 20_000;
/** While the source grows, it is not drawn. */
const DEBOUNCE_MS = 300;

export const Diagram = memo(function Diagram({ source }: { source: string }) {
  const dark = useDark();
  const settled = useDeferredValue(source);
  const [picture, setPicture] = useState<{ readonly of: string; readonly address: string } | null>(null);
  const [asSource, setAsSource] = useState(false);

  useEffect(() => {
    if (settled.length > MAX_LENGTH) return;
    let gone = false;
    const timer = setTimeout(async () => {
      const { drawDiagram } = await import('./draw-diagram.ts');
      const svg = await drawDiagram(settled, dark);
      if (!gone) setPicture(svg === null ? null : { of: settled, address: addressOf(svg) });
    }, DEBOUNCE_MS);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [settled, dark]);

  if (picture?.of !== source || asSource)
    return (
      <>
        <CodeBlock code={source} language="mermaid" />
        {picture?.of === source && (
          <Button variant="quiet" onClick={() => setAsSource(false)}>
            Show diagram
          </Button>
        )}
      </>
    );
  return (
    <figure className="diagram">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide diagram scrolls, and must be reachable by keyboard */}
      <section className="diagram-picture" tabIndex={0} aria-label="Diagram">
        <Picture src={picture.address} alt={`Diagram: ${source.split('\n', 1)[0]}`} />
      </section>
      <Button variant="quiet" onClick={() => setAsSource(true)}>
        Show source
      </Button>
    </figure>
  );
});

/** As an image, so that nothing in it runs, loads or is part of the page. */
const addressOf = (svg: string): string => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
