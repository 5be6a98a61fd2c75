/** A browser extension as the server sees it: requests with its origin. */
export const ORIGIN = `chrome-extension://${'a'.repeat(32)}`;
export const OTHER_ORIGIN = `chrome-extension://${'b'.repeat(32)}`;

type Call = {
  readonly method?: string;
  readonly token?: string;
  readonly origin?: string | null;
  readonly body?: object;
};

/** `origin: null` is a client other than a browser. */
export async function ask(url: string, { method, token, origin = ORIGIN, body }: Call = {}) {
  const response = await fetch(url, {
    method: method ?? (body ? 'POST' : 'GET'),
    headers: {
      'content-type': 'application/json',
      ...(origin === null ? {} : { origin }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: response.status, headers: response.headers, json };
}

export async function request(http: string, origin = ORIGIN): Promise<{ code: string; token: string }> {
  const { status, json } = await ask(`${http}/v1/pairings`, { origin, body: { name: 'A browser' } });
  if (status !== 201) throw new Error(`pairing was refused with ${status}`);
  return { code: String(json.code), token: String(json.token) };
}

/** The user with this token approves the code. Resolves with the id of the pairing. */
export async function allow(http: string, code: string, token?: string): Promise<string> {
  const { status, json } = await ask(`${http}/v1/pairings/answer`, {
    origin: null,
    token,
    body: { code, allow: true },
  });
  if (status !== 200) throw new Error(`the code was refused with ${status} ${JSON.stringify(json)}`);
  return String(json.id);
}
