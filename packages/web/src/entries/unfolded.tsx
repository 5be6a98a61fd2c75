import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { copyText } from '../components/copy-text.ts';

type UnfoldedProps = {
  /** exactly what was written or sent */
  readonly text: string;
  readonly indented: boolean;
  readonly copyLabel: string;
  /** null: there is no command that says it; absent: it is no frame */
  readonly wscat?: string | null;
  readonly note?: string;
};

/** More than that makes a browser slow; it can still be copied whole. */
const MOST_SHOWN = 50_000;

function shownText(text: string, indented: boolean): string {
  if (!indented || text.length > MOST_SHOWN) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // a frame that is no JSON is shown as it came
  }
}

/** The exact thing, and what can be done with it. */
export function Unfolded({ text, indented, copyLabel, wscat, note }: UnfoldedProps) {
  const [copied, setCopied] = useState('');
  const shown = shownText(text, indented);
  const copy = async (what: string, name: string): Promise<void> => {
    if (await copyText(what)) setCopied(name);
  };
  return (
    <div className="entry-exact">
      <div className="entry-actions">
        <Button look="quiet" icon={copied === 'exact' ? 'check' : 'copy'} onClick={() => copy(text, 'exact')}>
          {copied === 'exact' ? 'Copied' : copyLabel}
        </Button>
        {typeof wscat === 'string' && (
          <Button
            look="quiet"
            icon={copied === 'wscat' ? 'check' : 'copy'}
            title={wscat}
            onClick={() => copy(wscat, 'wscat')}
          >
            {copied === 'wscat' ? 'Copied' : 'Copy as wscat'}
          </Button>
        )}
        {note !== undefined && <span className="hint">{note}</span>}
      </div>
      <section
        className="entry-json"
        aria-label="Exact JSON"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        <pre>{shown.slice(0, MOST_SHOWN)}</pre>
      </section>
      {shown.length > MOST_SHOWN && (
        <p className="hint">{(shown.length - MOST_SHOWN).toLocaleString()} more characters: copy has all.</p>
      )}
    </div>
  );
}
