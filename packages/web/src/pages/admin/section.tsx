/** What the sections are made of: frame, lists and fields; settings, and forms whose stored values others may change. */

import type { Json, Role } from '@parlance/protocol';
import type { Settings } from '@parlance/sdk';
import { attempt, Button, Notice, toast } from '@parlance/ui/components/controls.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { NoAccess } from '@parlance/ui/components/no-access.tsx';
import { useShownFault } from '@parlance/ui/state/activity.ts';
import { may } from '@parlance/ui/state/may.ts';
import { parlance, refreshServer, useServer } from '@parlance/ui/state/server.ts';
import { type MouseEvent, type ReactNode, useState } from 'react';
import { type Polled, usePolled } from '../../state/use-polled.ts';

type SectionProps<Value> = {
  readonly title: string;
  /** `again` is null if it refreshes by itself */
  readonly polled: Pick<Polled<Value>, 'value' | 'fault'> & { readonly again: (() => void) | null };
  readonly actions?: ReactNode;
  readonly children: (value: Value) => ReactNode;
};

/** Its content, or the error and what to do about it. */
export function Section<Value>({ title, polled, actions, children }: SectionProps<Value>) {
  const { value, again } = polled;
  const fault = useShownFault(polled.fault);
  const refused = fault?.code === 'forbidden';
  return (
    <section
      className="admin-section"
      aria-labelledby="admin-section-title"
      aria-busy={value === null && !fault}
    >
      <div className="admin-head">
        <h2 id="admin-section-title">{title}</h2>
        {value !== null && !refused && actions}
      </div>
      {refused && <NoAccess />}
      {fault && !refused && (
        <Notice variant="danger" action={again && <Button onClick={again}>Try again</Button>}>
          {fault.message}
          {value !== null && ' The values shown may be out of date.'}
        </Notice>
      )}
      {value !== null && !refused && children(value)}
    </section>
  );
}

/** An entry of a list, and its buttons. */
export const Card = ({
  actions,
  children,
}: {
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) => (
  <li className="card">
    <div className="admin-what">{children}</div>
    {actions}
  </li>
);

type RemoveProps = {
  readonly name: string;
  readonly onClose: () => void;
  readonly onConfirm: () => unknown;
  /** what follows from it */
  readonly children: ReactNode;
};

export const RemoveDialog = ({ name, children, ...rest }: RemoveProps) => (
  <Dialog title={`Remove ${name}?`} confirm="Remove" danger {...rest}>
    <p>{children}</p>
  </Dialog>
);

type CheckboxesProps = {
  readonly legend: string;
  readonly options: readonly { readonly id: string; readonly name: string; readonly title?: string }[];
  readonly chosen: readonly string[];
  readonly onChoose: (chosen: readonly string[]) => void;
};

export const Checkboxes = ({ legend, options, chosen, onChoose }: CheckboxesProps) => (
  <fieldset className="field checkboxes">
    <legend>{legend}</legend>
    {options.map(({ id, name, title }) => (
      <label key={id} title={title}>
        <input
          type="checkbox"
          checked={chosen.includes(id)}
          onChange={({ target }) =>
            onChoose([...chosen.filter((other) => other !== id), ...(target.checked ? [id] : [])])
          }
        />{' '}
        {name}
      </label>
    ))}
  </fieldset>
);

/** The head of a table. */
export const Columns = ({ names }: { readonly names: readonly ReactNode[] }) => (
  <thead>
    <tr>
      {names.map((name, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the columns of a table never change
        <th scope="col" key={index}>
          {name}
        </th>
      ))}
    </tr>
  </thead>
);

/** What each role may do, from the least to the most. */
export const ROLES: Readonly<Record<Role, string>> = {
  user: 'chat only, cannot approve',
  developer: 'full access to own sessions',
  admin: 'full access to all sessions',
};

/** The roles that somebody with this role can give. */
export const rolesWithin = (role: Role): readonly Role[] => {
  const roles = Object.keys(ROLES) as Role[];
  return roles.slice(0, roles.indexOf(role) + 1);
};

/** The lines that are not empty. */
export const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The texts of a list in the settings. */
export const textsIn = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];

// The settings that can be changed while the server runs.

type Values = Readonly<Record<string, Json>>;
/** Throws a `ParlanceError`. */
export type Change = (values: Values, done: string) => Promise<void>;
/** Shows a `ParlanceError` as a toast; false after one. */
export type Save = (values: Values, done: string) => Promise<boolean>;

/** Callers who may not set up the server have no settings. */
export function useSettings(): {
  readonly polled: Polled<Settings>;
  readonly change: Change;
  readonly save: Save;
} {
  const polled = usePolled(may(useServer(), 'setup') ? parlance.admin.settings.read : null);
  const version = polled.value?.version ?? 0;

  /** The rest of the console shows the change at once. */
  async function change(values: Values, done: string): Promise<void> {
    try {
      polled.set(await parlance.admin.settings.change({ version, values }));
    } finally {
      polled.again();
    }
    toast(done);
    await refreshServer();
  }

  return { polled, change, save: (values, done) => attempt(() => change(values, done)) };
}

/** Names the settings that the configuration of the server decides, and why stored ones are not in use. */
export function GivenNotice({ settings, keys }: { settings: Settings; keys: readonly string[] }) {
  const labels = keys.flatMap((key) => settings.given[key] ?? []);
  return (
    <>
      {settings.problem !== null && <Notice variant="danger">{settings.problem}</Notice>}
      {labels.length > 0 && (
        <Notice>
          {labels.map((label, index) => (
            <span key={label}>
              {index > 0 && ', '}
              <code>{label}</code>
            </span>
          ))}{' '}
          {labels.length === 1 ? 'is' : 'are'} set at startup and {labels.length === 1 ? 'takes' : 'take'}{' '}
          precedence over what you enter here.
        </Notice>
      )}
    </>
  );
}

// The fields of a form. Unsaved input stays when another admin saves.

export type Draft<Fields> = {
  readonly fields: Fields;
  /** what the input was based on has changed, and not to the same */
  readonly isOutdated: boolean;
  readonly change: (changed: Partial<Fields>) => void;
  /** Discards the input and shows what is stored. */
  readonly reset: () => void;
};

export function useDraft<Fields extends object>(
  stored: Fields,
  merged: (entered: Entered<Fields>, stored: Fields) => Fields = mergedEach,
): Draft<Fields> {
  const [entered, setEntered] = useState<Entered<Fields> | null>(null);
  const isEdited = entered !== null && isTouched(entered);
  const fields = isEdited ? merged(entered, stored) : stored;
  return {
    fields,
    isOutdated: isEdited && !isSame(entered.base, stored) && !isSame(fields, stored),
    change: (changed) =>
      setEntered((before) =>
        before !== null && isTouched(before)
          ? { ...before, changed: { ...before.changed, ...changed } }
          : { base: stored, changed },
      ),
    reset: () => setEntered(null),
  };
}

// Input in a form whose stored values others may change meanwhile. Pure.

export type Entered<Fields> = {
  /** the stored values when the input began */
  readonly base: Fields;
  /** the fields that were changed */
  readonly changed: Partial<Fields>;
};

export const isSame = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

const keysOf = <Fields extends object>(fields: Fields) => Object.keys(fields) as (keyof Fields)[];

/** Whether a field has another value than when the input began. */
export const isTouched = <Fields extends object>({ base, changed }: Entered<Fields>): boolean =>
  keysOf(changed).some((key) => !isSame(changed[key], base[key]));

/** Fields that were changed keep their input; the others follow what is stored. */
export function mergedEach<Fields extends object>(
  { base, changed }: Entered<Fields>,
  stored: Fields,
): Fields {
  const merged = { ...stored };
  for (const key of keysOf(changed)) {
    const value = changed[key];
    if (value !== undefined && !isSame(value, base[key])) merged[key] = value;
  }
  return merged;
}

/** Above the buttons of a form: says that another admin was faster. */
export function OutdatedNotice({ draft }: { draft: Pick<Draft<unknown>, 'isOutdated' | 'reset'> }) {
  if (!draft.isOutdated) return null;
  /** The button disappears: the focus goes to the one below. */
  function load(event: MouseEvent): void {
    event.currentTarget.closest('form')?.querySelector<HTMLElement>('[type=submit]')?.focus();
    draft.reset();
  }
  return (
    <Notice variant="warning" action={<Button onClick={load}>Load the new settings</Button>}>
      Another admin changed these settings meanwhile. Your input is kept; saving it replaces theirs.
    </Notice>
  );
}

/** A ref: the browser refuses to submit a field whose value belongs to something that exists; undefined accepts it. */
export const refuseTaken = (owner: string | undefined) => (field: HTMLInputElement | null) => {
  field?.setCustomValidity(owner === undefined ? '' : `${owner} already exists.`);
};
