/** Browser origins that may call the server, and those that were refused. */

import { counted } from '@parlance/ui/chat/cost.ts';
import { Button, Empty, Field } from '@parlance/ui/components/controls.tsx';
import { parlance } from '@parlance/ui/state/server.ts';
import { type FormEvent, useState } from 'react';
import { usePolled } from '../../state/use-polled.ts';
import { Card, GivenNotice, Section, textsIn, useSettings } from './section.tsx';

const EVERY_MS = 3_000;
const NOT_AN_ORIGIN = 'Enter the origin with http:// or https://, such as https://chat.example.com.';

export function OriginsSection() {
  const { polled, save } = useSettings();
  const refused = usePolled(parlance.admin.refusedOrigins, EVERY_MS);
  const [entered, setEntered] = useState('');
  const allowed = textsIn(polled.value?.stored.allowedOrigins);
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
                <Card
                  key={origin}
                  actions={
                    <Button variant="primary" onClick={() => void allow(origin)}>
                      Allow
                    </Button>
                  }
                >
                  <code>{origin}</code>
                  <p className="hint">
                    {counted(count, 'request')}, last at {new Date(at).toLocaleTimeString()}
                  </p>
                </Card>
              ))}
            </ul>
          )}
          <h3>Allowed</h3>
          {allowed.length > 0 && (
            <ul className="admin-list" aria-label="Allowed origins">
              {allowed.map((origin) => (
                <Card key={origin} actions={<Button onClick={() => void remove(origin)}>Remove</Button>}>
                  <code>{origin}</code>
                </Card>
              ))}
            </ul>
          )}
          <form className="admin-form" onSubmit={submit}>
            <Field
              label="Allow an origin"
              required
              value={entered}
              placeholder="https://chat.example.com"
              spellCheck={false}
              onChange={({ target }) => {
                target.setCustomValidity(originIn(target.value) === null ? NOT_AN_ORIGIN : '');
                setEntered(target.value);
              }}
            />
            <div className="admin-buttons">
              <Button type="submit">Allow</Button>
            </div>
          </form>
        </>
      )}
    </Section>
  );
}

const EXTENSION = /^(?:chrome|moz)-extension:\/\/[a-z0-9-]+$/;

/** The origin of an address as a person enters or pastes it, or null if it has none that can be allowed. */
export function originIn(entered: string): string | null {
  const text = entered.trim().replace(/\/$/, '');
  if (EXTENSION.test(text)) return text;
  const url = text.includes('*') ? null : URL.parse(text);
  return url && /^https?:$/.test(url.protocol) ? url.origin : null;
}
