/** What somebody said to the agent, and saying it differently. */
import type { Part } from '@parlance/protocol';
import type { InputView } from '@parlance/sdk';
import { type KeyboardEvent, memo, useState } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { attempt } from '../../components/toast.tsx';
import { parlance } from '../../state/server.ts';
import { Parts } from './parts.tsx';

const wordsOf = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

type InputProps = { readonly session: string; readonly input: InputView; readonly queued?: boolean };

export const InputRow = memo(function InputRow({ session, input, queued = false }: InputProps) {
  const [editing, setEditing] = useState(false);
  const { parts, dialect, superseded } = input;
  const words = wordsOf(parts);
  if (editing) return <Edit session={session} input={input} onDone={() => setEditing(false)} />;
  return (
    <div className="said" data-queued={queued || undefined}>
      <div className="said-bubble">
        {input.call ? <code>{input.call.tool}</code> : <Parts parts={parts} text="plain" />}
      </div>
      <div className="said-under">
        {queued && (
          <Chip look="busy" title="It is taken when the turn before it is over">
            Queued
          </Chip>
        )}
        {superseded !== null && (
          <Chip look="waiting" title="It was sent to interrupt what the agent was doing">
            Interrupted the turn
          </Chip>
        )}
        {dialect !== 'native' && <Chip title="The dialect of the client that sent it">by {dialect}</Chip>}
        {input.agent && <Chip>to {input.agent.name}</Chip>}
        <time dateTime={new Date(input.at).toISOString()}>
          {new Date(input.at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}
        </time>
        {words !== '' && <CopyButton text={words} label="Copy the message" />}
        {!queued && !input.call && (
          <IconButton icon="edit" label="Edit and send again" onClick={() => setEditing(true)} />
        )}
      </div>
    </div>
  );
});

/** The conversation goes on from before the message: the old one and what came of it are out of the context. */
function Edit({ session, input, onDone }: { session: string; input: InputView; onDone: () => void }) {
  const [text, setText] = useState(wordsOf(input.parts));
  const [busy, setBusy] = useState(false);

  async function send(): Promise<void> {
    const rest = input.parts.filter(({ type }) => type !== 'text');
    const parts: Part[] = [...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]), ...rest];
    setBusy(true);
    if (await attempt(() => parlance.session(session).submit(parts, { replaces: input.input }))) onDone();
    setBusy(false);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Escape') onDone();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  }

  return (
    <div className="said said-edit">
      <textarea
        // biome-ignore lint/a11y/noAutofocus: it is what the reader has just asked for
        autoFocus
        aria-label="The message, to be sent again"
        value={text}
        rows={3}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <p className="hint">
        What came after this message is no longer part of the conversation; the timeline keeps it.
      </p>
      <div className="said-edit-buttons">
        <Button onClick={onDone}>Cancel</Button>
        <Button
          look="primary"
          disabled={busy || (text.trim() === '' && input.parts.length < 2)}
          onClick={() => void send()}
        >
          Send again
        </Button>
      </div>
    </div>
  );
}
