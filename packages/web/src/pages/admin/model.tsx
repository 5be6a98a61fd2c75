/** Connects a model: provider, address, key and name. */

import type { Json } from '@parlance/protocol';
import {
  type About,
  type ModelListing,
  type ModelQuestion,
  ParlanceError,
  type Settings,
  type VendorState,
} from '@parlance/sdk';
import { counted } from '@parlance/ui/chat/cost.ts';
import { Button, Chip, Field, Notice } from '@parlance/ui/components/controls.tsx';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { type FormEvent, useId, useRef, useState } from 'react';
import { usePolled } from '../../state/use-polled.ts';
import { tokens } from './prices.tsx';
import {
  Card,
  Columns,
  type Entered,
  GivenNotice,
  isSame,
  mergedEach,
  OutdatedNotice,
  RemoveDialog,
  type Save,
  Section,
  useDraft,
  useSettings,
} from './section.tsx';

type ModelFormProps = { readonly settings: Settings; readonly vendors: Vendors; readonly save: Save };

export function ModelSection() {
  const { polled, save } = useSettings();
  const { vendors } = useServer();
  return (
    <Section title="Model" polled={polled}>
      {(settings) => (
        <>
          <p className="hint">
            {settings.model.provider === 'offline'
              ? 'The offline demo model is in use. It needs no key, and it is not a language model.'
              : `${settings.model.model} at ${settings.model.address} is in use.`}{' '}
            Changes apply to the next message, without a restart.
          </p>
          <GivenNotice settings={settings} keys={settingsOf(vendors)} />
          {Object.entries(settings.keyProblems ?? {}).map(([name, problem]) => (
            <Notice variant="danger" key={name}>
              {problem}
            </Notice>
          ))}
          <ModelForm settings={settings} vendors={vendors} save={save} />
          <StoredKeys settings={settings} vendors={vendors} save={save} />
          <KnownVendors />
        </>
      )}
    </Section>
  );
}

// All vendors: their key, their package, and the models that the catalogue knows.

const priceText = (price: VendorState['models'][number]['price']): string =>
  price === null ? '–' : `$${price.input} / $${price.output}`;

function packageText({ package: needed }: VendorState): string | null {
  if (needed === null) return null;
  if (needed.problem !== null) return `${needed.name} ${needed.version} cannot be loaded: ${needed.problem}`;
  return needed.version === null ? `${needed.name} is not installed` : `${needed.name} ${needed.version}`;
}

function KnownVendors() {
  const { value } = usePolled(parlance.admin.vendors);
  if (value === null) return null;
  return (
    <>
      <h3>Vendors</h3>
      <p className="hint">
        Sizes and prices are of the catalogue of {value.date}: tokens, and US dollars per million tokens of
        input and output.
      </p>
      <ul className="admin-list" aria-label="Vendors">
        {value.vendors.map((vendor) => (
          <li className="card vendor" key={vendor.name}>
            <div className="admin-what">
              <strong>{vendor.label}</strong>{' '}
              <Chip variant={vendor.key === null ? undefined : 'good'}>
                {vendor.key === null ? 'no key' : `key from ${vendor.key}`}
              </Chip>
              <p className="hint">
                {[
                  vendor.address,
                  packageText(vendor),
                  vendor.missing.length > 0 ? `needs ${vendor.missing.join(', ')}` : null,
                ]
                  .filter((text) => text !== null)
                  .join(' · ')}
              </p>
              {vendor.package && vendor.package.version === null && (
                <p className="hint">
                  <code>{vendor.package.install}</code>
                </p>
              )}
              {vendor.models.length > 0 && (
                <details>
                  <summary>{counted(vendor.models.length, 'known model')}</summary>
                  <div className="md-table prices">
                    <table>
                      <Columns names={['Model', 'Context', 'Price']} />
                      <tbody>
                        {vendor.models.map(({ id, context, price }) => (
                          <tr key={id}>
                            <th scope="row">{id}</th>
                            <td>{tokens(context)}</td>
                            <td>{priceText(price)}</td>
                          </tr>
                        ))}
                      </tbody>
                    </table>
                  </div>
                </details>
              )}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

// Removes the stored API key of the model in use.

function labelOf(secret: string, vendors: Vendors): string {
  const vendor = vendors.find(({ name }) => `${name}Key` === secret);
  return vendor?.name === 'openai' ? `${vendor.label} or compatible server` : (vendor?.label ?? secret);
}

/** Without its key, a vendor cannot be used: the offline model is. A server of one's own may need none. */
function valuesWithout(name: string, { stored, given }: Settings): Record<string, Json> {
  const provider = name.replace(/Key$/, '');
  const needsKey = stored.provider === provider && stored[`${provider}BaseUrl`] === undefined;
  if (!needsKey || given[`${provider}BaseUrl`] !== undefined) return { [name]: null };
  const values = { [name]: null, provider: 'offline', model: null };
  return Object.fromEntries(Object.entries(values).filter(([key]) => given[key] === undefined));
}

function statusOf(name: string, { given, keyProblems }: Settings): string {
  if (given[name] !== undefined) return `Not in use: ${given[name]} takes precedence.`;
  return keyProblems?.[name] === undefined
    ? 'Encrypted. It can be replaced or removed, and is not shown again.'
    : 'Not in use: it was entered for another address.';
}

function StoredKeys({ settings, vendors, save }: ModelFormProps) {
  const [removing, setRemoving] = useState<string | null>(null);
  if (settings.secrets.length === 0) return null;
  return (
    <>
      <h3>Stored API keys</h3>
      <ul className="admin-list" aria-label="Stored API keys">
        {settings.secrets.map((name) => (
          <Card key={name} actions={<Button onClick={() => setRemoving(name)}>Remove</Button>}>
            <strong>{labelOf(name, vendors)}</strong>
            <p className="hint">{statusOf(name, settings)}</p>
          </Card>
        ))}
      </ul>
      {removing !== null && (
        <RemoveDialog
          name="the API key"
          onClose={() => setRemoving(null)}
          onConfirm={() => void save(valuesWithout(removing, settings), 'The API key was removed.')}
        >
          {'provider' in valuesWithout(removing, settings)
            ? 'The offline demo model is used until you connect another one.'
            : 'Requests are sent without a key.'}
        </RemoveDialog>
      )}
    </>
  );
}

// The form that connects a model. It is tested before it is saved.

function ModelForm({ settings, vendors, save }: ModelFormProps) {
  const { fields, change, tested, test, isOutdated, reset } = useModelTest(settings, vendors);
  const [isSaving, setSaving] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const models = useId();
  const { choice } = fields;
  const { given } = settings;
  const decided = decidedBy(given, choice);
  const isTesting = tested?.state === 'testing';
  const listed = tested?.state === 'listed' ? tested.listing.models : [];

  /** On a small screen, the fields of the choice would appear below it. */
  function choose(choice: Choice): void {
    change({ choice, address: '', key: '', model: '' });
    requestAnimationFrame(() => form.current?.querySelector('.field')?.scrollIntoView({ block: 'nearest' }));
  }

  async function store(wanted: Chosen): Promise<void> {
    setSaving(true);
    const done = wanted.choice === 'offline' ? 'The offline model is in use.' : 'Model connected.';
    if (await save(valuesOf(wanted, given), done)) reset();
    setSaving(false);
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    const usable = await test(true);
    if (usable) await store(usable);
  }

  return (
    <form ref={form} className="admin-form" noValidate onSubmit={(event) => void submit(event)}>
      <ProviderChoice
        offered={choicesOf(vendors).filter(
          ({ name }) => name !== 'openai' || given.openaiBaseUrl === undefined,
        )}
        chosen={choice}
        inUse={choiceInUse(settings, vendors)}
        disabled={decided.choice !== undefined}
        onChoose={choose}
      />
      {choice === 'compatible' && (
        <Field
          label="Address"
          type="url"
          disabled={decided.address !== undefined}
          value={fields.address}
          placeholder={decided.address === undefined ? 'http://127.0.0.1:11434/v1' : setBy(decided.address)}
          spellCheck={false}
          onChange={({ target }) => change({ address: target.value })}
        />
      )}
      {choice !== null && choice !== 'offline' && (
        <>
          <Field
            label={choice === 'compatible' ? 'API key (if the server needs one)' : 'API key'}
            type="password"
            disabled={decided.key !== undefined}
            value={fields.key}
            placeholder={keyHint(settings, choice)}
            onChange={({ target }) => change({ key: target.value })}
          />
          <Field
            label="Model"
            value={fields.model}
            list={models}
            disabled={decided.model !== undefined}
            placeholder={choice === 'compatible' ? 'Test the connection to see the models' : 'the default'}
            spellCheck={false}
            onChange={({ target }) => change({ model: target.value })}
          />
          <datalist id={models}>
            {listed.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <TestResult
            tested={tested}
            chosen={fields.model}
            choose={decided.model === undefined ? (model) => change({ model }) : undefined}
            saveAnyway={() => void store({ ...fields, choice })}
          />
        </>
      )}
      <OutdatedNotice draft={{ isOutdated: isOutdated && !isSaving, reset }} />
      {choice !== null && (
        <div className="admin-buttons">
          <Button type="submit" variant="primary" disabled={isTesting}>
            Save
          </Button>
          {choice !== 'offline' && (
            <Button disabled={isTesting} onClick={() => void test(false)}>
              {isTesting ? 'Testing …' : 'Test connection'}
            </Button>
          )}
        </div>
      )}
    </form>
  );
}

const setBy = (label: string): string => `set by ${label}`;

function keyHint({ secrets, given, keyProblems }: Settings, choice: Choice): string {
  const name = `${vendorOf(choice)}Key`;
  if (given[name] !== undefined) return setBy(given[name]);
  if (keyProblems?.[name] !== undefined) return 'stored for another address: enter it again';
  return secrets.includes(name) ? 'stored (leave empty to keep it)' : '';
}

// The result of a test: the models to choose from, or what to do.

/** A few models can be chosen with a click; the field completes the others. */
const MAX_SHOWN = 12;

type TestResultProps = {
  readonly tested: Tested | null;
  readonly chosen: string;
  /** absent if the model is set at startup */
  readonly choose?: ((model: string) => void) | undefined;
  readonly saveAnyway: () => void;
};

function TestResult({ tested, chosen, choose, saveAnyway }: TestResultProps) {
  if (tested === null || tested.state === 'testing') return null;
  const anyway = <Button onClick={saveAnyway}>Save anyway</Button>;
  if (tested.state === 'failed')
    return (
      <Notice variant="danger" action={tested.mayBeSaved && anyway}>
        {tested.problem}
      </Notice>
    );
  const { models } = tested.listing;
  return (
    <>
      {tested.problem !== null && (
        <Notice variant="danger" action={chosen.trim() !== '' && anyway}>
          {tested.problem}
        </Notice>
      )}
      <Notice variant="good">
        {models.length === 0
          ? 'Connected. The server lists no models. Enter a model name.'
          : `Connected. ${counted(models.length, 'model')}:`}
        <span className="model-choices">
          {models.slice(0, MAX_SHOWN).map((model) => (
            <Button
              key={model}
              aria-pressed={model === chosen}
              disabled={choose === undefined}
              onClick={() => choose?.(model)}
            >
              {model}
            </Button>
          ))}
          {models.length > MAX_SHOWN && <span className="hint">more in the field above</span>}
        </span>
      </Notice>
    </>
  );
}

type ProviderChoiceProps = {
  readonly offered: ReturnType<typeof choicesOf>;
  /** null: none yet */
  readonly chosen: Choice | null;
  readonly inUse: Choice;
  readonly disabled: boolean;
  readonly onChoose: (choice: Choice) => void;
};

/** The providers as radio buttons, with what each of them needs. */
function ProviderChoice({ offered, chosen, inUse, disabled, onChoose }: ProviderChoiceProps) {
  const id = useId();
  return (
    <fieldset className="provider-choices" disabled={disabled}>
      <legend>Provider</legend>
      {offered.map(({ name, label, hint }) => (
        <label key={name}>
          <input
            type="radio"
            name={id}
            checked={name === chosen}
            aria-labelledby={`${id}-${name}`}
            aria-describedby={`${id}-${name}-hint`}
            onChange={() => onChoose(name)}
          />
          <span>
            <strong id={`${id}-${name}`}>{label}</strong>
            <span className="hint" id={`${id}-${name}-hint`}>
              {hint}
            </span>
          </span>
          {name === inUse && <Chip variant="good">in use</Chip>}
        </label>
      ))}
    </fieldset>
  );
}

// The form that connects a model: its fields, and the test of what was entered.

type Tested =
  | { readonly state: 'testing' }
  | { readonly state: 'failed'; readonly problem: string; readonly mayBeSaved: boolean }
  | { readonly state: 'listed'; readonly listing: ModelListing; readonly problem: string | null };

const isChosen = (fields: Fields): fields is Chosen => fields.choice !== null;

/** The fields that a test is about. */
const serverOf = ({ choice, address, key }: Fields) => ({ choice, address, key });

function useModelTest(settings: Settings, vendors: Vendors) {
  const draft = useDraft<Fields>(fieldsOf(settings, vendors), mergedFields);
  const { fields } = draft;
  const [last, setLast] = useState<{ readonly of: object; readonly tested: Tested } | null>(null);
  /** of another server once the fields are about another one */
  const tested = last && isSame(last.of, serverOf(fields)) ? last.tested : null;

  function change(changed: Partial<Fields>): void {
    draft.change(changed);
    setLast((before) =>
      changed.model !== undefined && before?.tested.state === 'listed'
        ? { ...before, tested: { ...before.tested, problem: null } }
        : null,
    );
  }

  async function listed(wanted: Chosen): Promise<Tested> {
    const problem = problemIn(wanted);
    if (problem !== null) return { state: 'failed', problem, mayBeSaved: false };
    try {
      const listing = await parlance.admin.models(questionOf(wanted, settings.given, vendors));
      return { state: 'listed', listing, problem: null };
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      // A server of one's own has no default model.
      const mayBeSaved = wanted.choice !== 'compatible' || wanted.model.trim() !== '';
      return { state: 'failed', problem: thrown.message, mayBeSaved };
    }
  }

  /** Shows the result. Returns the fields with the address that answered; null if they cannot be used. */
  async function test(forUse: boolean): Promise<Chosen | null> {
    if (!isChosen(fields)) return null;
    if (fields.choice === 'offline') return fields;
    const of = serverOf(fields);
    setLast({ of, tested: { state: 'testing' } });
    const result = await listed(fields);
    if (result.state !== 'listed') {
      setLast({ of, tested: result });
      return null;
    }
    const { listing } = result;
    const [only] = listing.models.length === 1 ? listing.models : [];
    const isOwnServer = fields.choice === 'compatible';
    // What is entered during the test stays.
    const completed: Partial<Pick<Fields, 'address' | 'model'>> = {
      ...(isOwnServer && { address: listing.address }),
      ...(isOwnServer && fields.model.trim() === '' && only !== undefined && { model: only }),
    };
    const complete = { ...fields, ...completed };
    const problem = forUse ? modelProblem(complete, listing) : null;
    draft.change(completed);
    setLast({ of: serverOf(complete), tested: { ...result, problem } });
    return problem === null ? complete : null;
  }

  function reset(): void {
    draft.reset();
    setLast(null);
  }

  return { fields, change, tested, test, isOutdated: draft.isOutdated, reset };
}

// What the form for the model offers, and the settings that a choice becomes. Pure.

/** `compatible`, `offline`, or the name of a vendor. */
export type Choice = string;
export type Vendors = About['vendors'];

/** In the order of the form. */
const choicesOf = (
  vendors: Vendors,
): readonly { readonly name: Choice; readonly label: string; readonly hint: string }[] => [
  ...vendors,
  {
    name: 'compatible',
    label: 'Ollama, vLLM or OpenAI-compatible server',
    hint: 'Its address, and an API key if it needs one',
  },
  { name: 'offline', label: 'Offline demo model', hint: 'Built in, without a key; not a language model' },
];

const vendorOf = (choice: Choice): string => (choice === 'compatible' ? 'openai' : choice);

/** The settings of the form. */
const settingsOf = (vendors: Vendors): string[] => [
  'provider',
  'model',
  ...vendors.flatMap(({ name }) => [`${name}Key`, `${name}BaseUrl`]),
];

export type Fields = {
  /** null: not chosen yet */
  readonly choice: Choice | null;
  readonly address: string;
  /** empty: the stored one stays */
  readonly key: string;
  readonly model: string;
};
export type Chosen = Fields & { readonly choice: Choice };

type SettingSources = Settings['given'];

/** The flag or variable that decides each field; undefined if it can be changed. */
export function decidedBy(
  given: SettingSources,
  choice: Choice | null,
): Readonly<Partial<Record<keyof Fields, string>>> {
  if (choice === null || choice === 'offline') return { choice: given.provider };
  const vendor = vendorOf(choice);
  return {
    choice: given.provider,
    address: given[`${vendor}BaseUrl`],
    key: given[`${vendor}Key`],
    model: given.model,
  };
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/**
 * What is stored, or in use if nothing is. What is set at startup takes precedence. The offline model is shown as a choice
 * only if it is set there: otherwise no provider has been chosen yet.
 */
export function fieldsOf({ stored, model, given }: Settings, vendors: Vendors): Fields {
  const provider = (given.provider === undefined && text(stored.provider)) || model.provider;
  const isInUse = provider === model.provider;
  const isGiven = given[`${provider}BaseUrl`] !== undefined && isInUse;
  const address = isGiven ? (model.address ?? '') : text(stored[`${provider}BaseUrl`]);
  if (!vendors.some(({ name }) => name === provider)) {
    const isSet = given.provider !== undefined || given.model !== undefined;
    return { choice: isSet ? 'offline' : null, address: '', key: '', model: '' };
  }
  const choice = provider === 'openai' && address !== '' ? 'compatible' : provider;
  const storedModel = given.model === undefined ? text(stored.model) : '';
  const name = storedModel || (model.provider === 'offline' ? '' : model.model);
  return { choice, address, key: '', model: name };
}

/** The choice whose model answers now. */
export function choiceInUse({ model: { provider, address } }: Settings, vendors: Vendors): Choice {
  const vendor = vendors.find(({ name }) => name === provider);
  return provider === 'openai' && address !== vendor?.address ? 'compatible' : (vendor?.name ?? 'offline');
}

/**
 * Keeps the input when the stored settings have changed. A key belongs to a server and a model to its list, so that all
 * fields are kept unless both are about the same server.
 */
export function mergedFields(entered: Entered<Fields>, stored: Fields): Fields {
  const { base } = entered;
  const typed = { ...base, ...entered.changed };
  const isSameServer =
    typed.choice === base.choice && stored.choice === base.choice && stored.address === base.address;
  return isSameServer ? mergedEach(entered, stored) : typed;
}

/** An address or model that is left empty is removed, so that the vendor's own is used. */
export function valuesOf(
  { choice, address, key, model }: Chosen,
  given: SettingSources,
): Record<string, Json> {
  const values: Record<string, Json> = { provider: 'offline', model: null };
  if (choice !== 'offline') {
    const vendor = vendorOf(choice);
    values.provider = vendor;
    values.model = model.trim() || null;
    values[`${vendor}BaseUrl`] = choice === 'compatible' ? withScheme(address) || null : null;
    if (key.trim() !== '') values[`${vendor}Key`] = key.trim();
  }
  return Object.fromEntries(Object.entries(values).filter(([name]) => given[name] === undefined));
}

/** The request that tests the fields. */
export function questionOf(
  { choice, address, key }: Chosen,
  given: SettingSources,
  vendors: Vendors,
): ModelQuestion {
  const provider = vendorOf(choice);
  // A key is sent to the vendor's own address, unless the choice is another server.
  const own =
    choice === 'compatible' ? withScheme(address) : vendors.find(({ name }) => name === provider)?.address;
  return {
    provider,
    // A given address is the one in use.
    address: given[`${provider}BaseUrl`] === undefined ? own : undefined,
    key: key.trim() === '' ? undefined : key.trim(),
  };
}

/** People leave out the scheme. Servers of this machine and of local networks rarely have TLS. */
export function withScheme(address: string): string {
  const trimmed = address.trim();
  if (trimmed === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed)) return trimmed;
  const [host = ''] = trimmed.split(/[:/]/);
  const isLocal = /^(localhost|[\d.]+|[^.]+|.+\.local|\[.*)$/i.test(host);
  return `${isLocal ? 'http' : 'https'}://${trimmed}`;
}

/** What has to be changed before the fields can be tested; null if nothing. */
export function problemIn({ choice, address, key }: Fields): string | null {
  if (/\s/.test(key.trim())) return 'The API key contains spaces. Copy it again.';
  if (choice !== 'compatible') return null;
  const { protocol } = URL.parse(withScheme(address)) ?? { protocol: null };
  if (protocol === 'http:' || protocol === 'https:') return null;
  return 'Enter the address of the server, such as http://127.0.0.1:11434/v1.';
}

/** Ollama's default tag may be left out. */
const isListed = (model: string, models: readonly string[]): boolean =>
  models.includes(model) || models.includes(`${model}:latest`);

/** Why the model cannot be used; null if it can, or if the server lists none. */
export function modelProblem({ choice, model }: Fields, { models, address }: ModelListing): string | null {
  const name = model.trim();
  if (name === '') return choice === 'compatible' ? 'Choose a model.' : null;
  if (models.length === 0 || isListed(name, models)) return null;
  return `${new URL(address).host} does not list a model named ${name}. Choose one from the list.`;
}
