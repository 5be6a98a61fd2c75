/** Listeners and their open sockets; admins add and remove extra ones. */

import type { Listener } from '@parlance/sdk';
import { Button, Chip, Field, Select } from '@parlance/ui/components/controls.tsx';
import { may } from '@parlance/ui/state/may.ts';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { type FormEvent, useState } from 'react';
import { usePolled } from '../../state/use-polled.ts';
import { GivenNotice, refuseTaken, Section, textsIn, useSettings } from './section.tsx';

const EVERY_MS = 2_000;

export function ListenersSection() {
  const polled = usePolled(parlance.admin.listeners, EVERY_MS);
  const { polled: settings, save } = useSettings();
  const isAdmin = may(useServer(), 'admin');
  const stored = textsIn(settings.value?.stored.listeners);
  async function change(listeners: readonly string[], done: string): Promise<boolean> {
    const saved = await save({ listeners: [...listeners] }, done);
    polled.again();
    return saved;
  }
  return (
    <Section title="Listeners" polled={polled}>
      {(listeners) => (
        <>
          <p className="hint">
            The default listener serves every client. An extra one serves one dialect, for clients with a
            fixed port or path. Event streams are HTTP requests and do not count as sockets.
          </p>
          {isAdmin && settings.value && <GivenNotice settings={settings.value} keys={['listeners']} />}
          <ul className="admin-list" aria-label="Listeners">
            {listeners.map((listener) => {
              const entry = entryOf(listener);
              const rest = stored.filter((other) => other !== entry);
              return (
                <Line
                  key={`${entry} ${listener.problem}`}
                  listener={listener}
                  remove={
                    isAdmin && rest.length < stored.length
                      ? () => void change(rest, `Port ${listener.port} is closed.`)
                      : undefined
                  }
                />
              );
            })}
          </ul>
          {isAdmin && settings.value && (
            <NewListener
              taken={listeners.map((listener) => listener.port)}
              add={(entry) => change([...stored, entry], 'Listener saved.')}
            />
          )}
        </>
      )}
    </Section>
  );
}

type LineProps = { readonly listener: Listener; readonly remove?: (() => void) | undefined };

function Line({ listener: { address, port, dialect, sockets, problem }, remove }: LineProps) {
  const entries = Object.entries(sockets).sort(([left], [right]) => left.localeCompare(right));
  const all = entries.reduce((sum, [, count]) => sum + count, 0);
  return (
    <li className="card">
      <div className="admin-what">
        <code>
          {address.includes(':') ? `[${address}]` : address}:{port}
        </code>
        <p className="hint">{dialect === 'all' ? 'all dialects' : `${dialect} only`}</p>
      </div>
      <div className="admin-sockets">
        {problem === null ? (
          <span className="admin-number">
            <strong>{all}</strong> {all === 1 ? 'socket' : 'sockets'}
          </span>
        ) : (
          <Chip variant="bad">{problem}</Chip>
        )}
        {entries.map(([name, count]) => (
          <Chip key={name} title={name === 'unknown' ? 'dialect not detected yet' : undefined}>
            {name} {count}
          </Chip>
        ))}
      </div>
      {remove && (
        <Button onClick={remove} aria-label={`Remove the listener on port ${port}`}>
          Remove
        </Button>
      )}
    </li>
  );
}

type NewListenerProps = {
  /** ports of other listeners */
  readonly taken: readonly number[];
  readonly add: (entry: string) => Promise<boolean>;
};

function NewListener({ taken, add }: NewListenerProps) {
  const { dialects } = useServer();
  const [port, setPort] = useState('');
  const owner = taken.includes(Number(port)) ? `A listener on port ${port}` : undefined;
  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    if (await add(`${fields.get('dialect')}=${port}`)) setPort('');
  }
  return (
    <form className="admin-form" aria-label="Add a listener" onSubmit={(event) => void submit(event)}>
      <Select label="Dialect" name="dialect" options={dialects.map(({ name }) => [name, name])} />
      <Field
        label="Port"
        // Called on every render: the listeners may have changed.
        ref={refuseTaken(owner)}
        type="number"
        required
        min={1}
        max={65_535}
        value={port}
        placeholder="8080"
        onChange={({ target }) => setPort(target.value)}
      />
      <div className="admin-buttons">
        <Button type="submit">Add listener</Button>
      </div>
    </form>
  );
}

const entryOf = ({ dialect, port }: Listener): string => `${dialect}=${port}`;
