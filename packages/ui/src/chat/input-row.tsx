/** An input of the user, with "edit and send again". */
import type { Part } from '@parlance/protocol';
import type { InputView } from '@parlance/sdk';
import { type KeyboardEvent, memo, useContext, useState } from 'react';
import { Button, IconButton } from '../components/button.tsx';
import { Chip } from '../components/chip.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { attempt } from '../components/toast.tsx';
import { parlance } from '../state/server.ts';
import { Branches, IsLatest } from './branch-context.ts';
import type { Branch } from './branches.ts';
import { Parts } from './parts.tsx';
import { textOf } from './rows.ts';

const TIME = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit' });

type InputProps = { readonly session: string; readonly input: InputView; readonly queued?: boolean };

export const InputRow = memo(function InputRow({ session, input, queued = false }: InputProps) {
  const [editing, setEditing] = useState(false);
  const isLatest = useContext(IsLatest);
  const { dialect, superseded } = input;
  const parts = input.parts.filter(({ type }) => type !== 'page');
  const text = textOf(parts);
  if (editing)
    return <Edit session={session} input={input} queued={queued} onDone={() => setEditing(false)} />;
  return (
    <div className="said" data-queued={queued || undefined}>
      <div className="said-bubble">
        {input.call ? <code>{input.call.tool}</code> : <Parts parts={parts} text="plain" />}
      </div>
      <div className="said-under">
        {queued && (
          <Chip variant="busy" title="Starts after the current turn">
            Queued
          </Chip>
        )}
        {superseded !== null && (
          <Chip variant="waiting" title="Sent to interrupt the agent">
            Interrupted turn
          </Chip>
        )}
        {dialect !== 'native' && <Chip title="Dialect of the sender">via {dialect}</Chip>}
        {input.agent && <Chip>to {input.agent.name}</Chip>}
        {parts.length < input.parts.length && (
          <Chip variant="waiting" title="The page was sent as untrusted content">
            with the page
          </Chip>
        )}
        <time dateTime={new Date(input.at).toISOString()}>{TIME.format(input.at)}</time>
        {text !== '' && <CopyButton text={text} label="Copy message" />}
        <Versions of={input.input} at="message" />
        {isLatest && !input.call && (!queued || input.turn) && (
          <IconButton
            icon="edit"
            label={queued ? 'Edit queued message' : 'Edit'}
            onClick={() => setEditing(true)}
          />
        )}
        {queued && input.turn && (
          <IconButton
            icon="trash"
            label="Remove from queue"
            onClick={() => void attempt(() => parlance.session(session).cancel({ turn: input.turn }))}
          />
        )}
      </div>
    </div>
  );
});

/** Looks like a message; after a moment it says that it is not sent yet. */
export const SendingRow = ({ parts }: { parts: readonly Part[] }) => (
  <div className="said" data-sending>
    <div className="said-bubble">
      <Parts parts={parts} text="plain" />
    </div>
    <div className="said-under">
      <span>Sending …</span>
    </div>
  </div>
);

type VersionsProps = { readonly of: string; readonly at: Branch['at'] };

/** ‹ 1/2 › for the input with that id, unless it belongs elsewhere. */
export function Versions({ of: input, at }: VersionsProps) {
  const { branches, choose } = useContext(Branches);
  const branch = branches.get(input);
  if (branch?.at !== at) return null;
  const { latest, index, count } = branch;
  return (
    <span className="versions">
      <IconButton
        icon="back"
        label="Previous version"
        disabled={index === 0}
        onClick={() => choose(latest, index - 1)}
      />
      <span>
        <span className="unseen">Version </span>
        {index + 1}/{count}
      </span>
      <IconButton
        icon="chevron"
        label="Next version"
        disabled={index === count - 1}
        onClick={() => choose(latest, index + 1)}
      />
    </span>
  );
}

type EditProps = {
  readonly session: string;
  readonly input: InputView;
  readonly queued: boolean;
  readonly onDone: () => void;
};

/** Continues from before the message: the old one and its answer become an earlier version. A queued one is queued again. */
function Edit({ session, input, queued, onDone }: EditProps) {
  const [text, setText] = useState(textOf(input.parts));
  const [busy, setBusy] = useState(false);

  async function send(): Promise<void> {
    const rest = input.parts.filter((part) => part.type !== 'text' || part.link);
    const parts: Part[] = [...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]), ...rest];
    setBusy(true);
    const handle = parlance.session(session);
    const replaced = await attempt(async () => {
      if (queued) await handle.cancel({ turn: input.turn });
      await handle.submit(parts, queued ? {} : { replaces: input.input });
    });
    if (replaced) onDone();
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
        // biome-ignore lint/a11y/noAutofocus: the reader has just asked for this field
        autoFocus
        aria-label="Edited message"
        dir="auto"
        value={text}
        rows={3}
        onFocus={({ target }) => target.setSelectionRange(target.value.length, target.value.length)}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <p className="hint">
        {queued
          ? 'Sending moves the message to the end of the queue.'
          : 'The conversation continues from here. What follows now stays as an earlier version.'}
      </p>
      <div className="said-edit-buttons">
        <Button onClick={onDone}>Cancel</Button>
        <Button
          variant="primary"
          disabled={busy || (text.trim() === '' && input.parts.length < 2)}
          onClick={() => void send()}
        >
          Send
        </Button>
      </div>
    </div>
  );
}
