/** Connects a model: provider, address, key and name. */

import type { Json } from '@parlance/protocol';
import { type ModelListing, ParlanceError, type Settings, type VendorState } from '@parlance/sdk';
import { Button } from '@parlance/ui/components/button.tsx';
import { Chip } from '@parlance/ui/components/chip.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { Notice } from '@parlance/ui/components/notice.tsx';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { type FormEvent, useId, useRef, useState } from 'react';
import { usePolled } from '../../state/use-polled.ts';
import { isSame } from './draft.ts';
import { GivenNotice } from './given-notice.tsx';
import { OutdatedNotice } from './outdated-notice.tsx';
import { tokens } from './prices.tsx';
import { Section } from './section.tsx';
import { useDraft } from './use-draft.ts';
import { type Save, useSettings } from './use-settings.ts';
import {
  type Choice,
  type Chosen,
  choiceInUse,
  choicesOf,
  decidedBy,
  type Fields,
  fieldsOf,
  mergedFields,
  modelProblem,
  problemIn,
  questionOf,
  settingsOf,
  type Vendors,
  valuesOf,
  vendorOf,
} from './vendors.ts';

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
                  <summary>
                    {vendor.models.length} known {vendor.models.length === 1 ? 'model' : 'models'}
                  </summary>
                  <div className="md-table prices">
                    <table>
                      <thead>
                        <tr>
                          <th scope="col">Model</th>
                          <th scope="col">Context</th>
                          <th scope="col">Price</th>
                        </tr>
                      </thead>
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
          <li className="card" key={name}>
            <div className="admin-what">
              <strong>{labelOf(name, vendors)}</strong>
              <p className="hint">{statusOf(name, settings)}</p>
            </div>
            <Button onClick={() => setRemoving(name)}>Remove</Button>
          </li>
        ))}
      </ul>
      {removing !== null && (
        <Dialog
          title="Remove the API key?"
          confirm="Remove"
          danger
          onClose={() => setRemoving(null)}
          onConfirm={() => void save(valuesWithout(removing, settings), 'The API key was removed.')}
        >
          <p>
            {'provider' in valuesWithout(removing, settings)
              ? 'The offline demo model is used until you connect another one.'
              : 'Requests are sent without a key.'}
          </p>
        </Dialog>
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
        <label className="field">
          Address
          <input
            type="url"
            disabled={decided.address !== undefined}
            value={fields.address}
            placeholder={decided.address === undefined ? 'http://127.0.0.1:11434/v1' : setBy(decided.address)}
            spellCheck={false}
            autoComplete="off"
            onChange={({ target }) => change({ address: target.value })}
          />
        </label>
      )}
      {choice !== null && choice !== 'offline' && (
        <>
          <label className="field">
            {choice === 'compatible' ? 'API key (if the server needs one)' : 'API key'}
            <input
              type="password"
              autoComplete="off"
              disabled={decided.key !== undefined}
              value={fields.key}
              placeholder={keyHint(settings, choice)}
              onChange={({ target }) => change({ key: target.value })}
            />
          </label>
          <label className="field">
            Model
            <input
              value={fields.model}
              list={models}
              disabled={decided.model !== undefined}
              placeholder={choice === 'compatible' ? 'Test the connection to see the models' : 'the default'}
              spellCheck={false}
              autoComplete="off"
              onChange={({ target }) => change({ model: target.value })}
            />
          </label>
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
          : `Connected. ${models.length} ${models.length === 1 ? 'model' : 'models'}:`}
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
