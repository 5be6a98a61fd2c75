/** A formula: its source at first, drawn once KaTeX is loaded. */
import { memo, useEffect, useRef, useState } from 'react';

/** Longer formulas stay source. */
const MAX_LENGTH = 5_000;

type MathProps = { readonly tex: string; readonly display: boolean };

export const Formula = memo(function Formula({ tex, display }: MathProps) {
  const place = useRef<HTMLSpanElement>(null);
  const [drawn, setDrawn] = useState(false);
  useEffect(() => {
    if (tex.length > MAX_LENGTH) return;
    let gone = false;
    void import('./katex.ts').then(({ draw }) => {
      if (!gone && place.current) setDrawn(draw(tex, place.current, display));
    });
    return () => {
      gone = true;
    };
  }, [tex, display]);
  const source = <code className="math-source">{tex}</code>;
  return (
    <span className={display ? 'math math-display' : 'math'} tabIndex={display ? 0 : undefined}>
      <span ref={place} hidden={!drawn} />
      {!drawn && source}
    </span>
  );
});
