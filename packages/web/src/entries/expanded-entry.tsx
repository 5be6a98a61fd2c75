import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { copyText } from '../components/copy-text.ts';
import type { ShellCommand } from './rows.ts';

type ExpandedEntryProps = {
  /** the exact text */
  readonly text: string;
  readonly indented: boolean;
  readonly copyLabel: string;
  /** null: no command can send it; absent: not a frame */
  readonly command?: ShellCommand | null;
  readonly note?: string;
};

/** Longer text slows the browser down; copying still gives all of it. */
const MAX_SHOWN_LENGTH = 50_000;

function shownText(text: string, indented: boolean): string {
  if (!indented || text.length > MAX_SHOWN_LENGTH) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // not JSON: shown as received
  }
}

/** The exact text and its actions. */
export function ExpandedEntry({ text, indented, copyLabel, command, note }: ExpandedEntryProps) {
  const [copied, setCopied] = useState('');
  const shown = shownText(text, indented);
  const copy = async (what: string, name: string): Promise<void> => {
    if (await copyText(what)) setCopied(name);
  };
  return (
    <div className="entry-exact">
      <div className="entry-actions">
        <Button
          variant="quiet"
          icon={copied === 'exact' ? 'check' : 'copy'}
          onClick={() => copy(text, 'exact')}
        >
          {copied === 'exact' ? 'Copied' : copyLabel}
        </Button>
        {command && (
          <Button
            variant="quiet"
            icon={copied === 'command' ? 'check' : 'copy'}
            title={command.text}
            onClick={() => copy(command.text, 'command')}
          >
            {copied === 'command' ? 'Copied' : `Copy as ${command.tool}`}
          </Button>
        )}
        {note !== undefined && <span className="hint">{note}</span>}
      </div>
      <section
        className="entry-json"
        aria-label="Exact JSON"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
      >
        <pre>{shown.slice(0, MAX_SHOWN_LENGTH)}</pre>
      </section>
      {shown.length > MAX_SHOWN_LENGTH && (
        <p className="hint">
          {(shown.length - MAX_SHOWN_LENGTH).toLocaleString()} more characters. “Copy” copies all of it.
        </p>
      )}
    </div>
  );
}
