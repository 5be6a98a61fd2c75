/** Browser origins that may call the server, and those that were refused. */

import type { Json } from '@parlance/protocol';
import { Button } from '@parlance/ui/components/button.tsx';
import { Empty } from '@parlance/ui/components/empty.tsx';
import { parlance } from '@parlance/ui/state/server.ts';
import { type FormEvent, useState } from 'react';
import { usePolled } from '../../state/use-polled.ts';
import { GivenNotice } from './given-notice.tsx';
import { originIn } from './origin-in.ts';
import { Section } from './section.tsx';
import { useSettings } from './use-settings.ts';

const EVERY_MS = 3_000;
const NOT_AN_ORIGIN = 'Enter the origin with http:// or https://, such as https://chat.example.com.';

export function OriginsSection() {
  const { polled, save } = useSettings();
  const refused = usePolled(parlance.admin.refusedOrigins, EVERY_MS);
  const [entered, setEntered] = useState('');
  const allowed = originsIn(polled.value?.stored.allowedOrigins);
  const allow = async (origin: string) => {
    const origins = [...new Set([...allowed, origin])];
    if (await save({ allowedOrigins: origins }, `${origin} is now allowed.`)) setEntered('');
    refused.again();
  };
  const remove = (origin: string) =>
    save({ allowedOrigins: allowed.filter((other) => other !== origin) }, `${origin} is no longer allowed.`);

  function submit(event: FormEvent): void {
    event.preventDefault();
    const origin = originIn(entered);
    if (origin !== null) void allow(origin);
  }

  // Refused origins are for admins only: whoever is none sees why.
  return (
    <Section title="Browser origins" polled={refused}>
      {(origins) => (
        <>
          <p className="hint">
            The console may always call this server. On a loopback address, other pages on this machine may,
            too. All other pages and extensions are refused until you allow their origin. The Parlance
            extension needs no entry: it is paired with a code.
          </p>
          {polled.value && <GivenNotice settings={polled.value} keys={['allowedOrigins']} />}
          <h3>Recently refused</h3>
          {origins.length === 0 ? (
            <Empty title="No refused origins" />
          ) : (
            <ul className="admin-list" aria-label="Refused origins">
              {origins.map(({ origin, count, at }) => (
                <li className="card" key={origin}>
                  <div className="admin-what">
                    <code>{origin}</code>
                    <p className="hint">
                      {count} {count === 1 ? 'request' : 'requests'}, last at{' '}
                      {new Date(at).toLocaleTimeString()}
                    </p>
                  </div>
                  <Button variant="primary" onClick={() => void allow(origin)}>
                    Allow
                  </Button>
                </li>
              ))}
            </ul>
          )}
          <h3>Allowed</h3>
          {allowed.length > 0 && (
            <ul className="admin-list" aria-label="Allowed origins">
              {allowed.map((origin) => (
                <li className="card" key={origin}>
                  <div className="admin-what">
                    <code>{origin}</code>
                  </div>
                  <Button onClick={() => void remove(origin)}>Remove</Button>
                </li>
              ))}
            </ul>
          )}
          <form className="admin-form" onSubmit={submit}>
            <label className="field">
              Allow an origin
              <input
                required
                value={entered}
                placeholder="https://chat.example.com"
                spellCheck={false}
                autoComplete="off"
                onChange={({ target }) => {
                  target.setCustomValidity(originIn(target.value) === null ? NOT_AN_ORIGIN : '');
                  setEntered(target.value);
                }}
              />
            </label>
            <div className="admin-buttons">
              <Button type="submit">Allow</Button>
            </div>
          </form>
        </>
      )}
    </Section>
  );
}

const originsIn = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((origin) => typeof origin === 'string') : [];
