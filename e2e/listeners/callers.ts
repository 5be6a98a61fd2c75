/**
 * Allowed callers in one table: Host and Origin of a request, and whether it is accepted. The verdict is the
 * same on every listener, for every method, path and socket.
 */

export type Verdict = 'in' | 'out';
export type Lines = readonly (readonly [name: string, value: string])[];

export type Caller = {
  readonly what: string;
  readonly verdict: Verdict;
  readonly headers: Lines;
  /** what precedes the path in the request line */
  readonly authority?: string;
  readonly version?: '1.0';
};

export const EXTENSION = 'chrome-extension://abcdefghijklmnopabcdefghijklmnop';
export const UNKNOWN_EXTENSION = 'chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba';
export const ALLOWED = ['https://chat.example', 'https://panel.example:8443', EXTENSION];

const host = (verdict: Verdict, what: string, ...hosts: string[]): Caller => ({
  what: `Host ${what}`,
  verdict,
  headers: hosts.map((value) => ['Host', value] as const),
});

/** `port` is the listener's own. */
export const hostCallers = (port: number): readonly Caller[] => [
  host('in', 'our own', `127.0.0.1:${port}`),
  host('in', 'localhost', `localhost:${port}`),
  host('in', 'in capitals', `LOCALHOST:${port}`),
  host('in', 'another loopback address', '127.8.9.10'),
  host('in', 'IPv6 loopback', `[::1]:${port}`),
  host('in', 'with another port', '127.0.0.1:1'),
  host('in', 'without a port', 'localhost'),
  host('in', 'with spaces around it', `  127.0.0.1:${port}\t`),
  host('in', 'of an allowed origin', 'chat.example'),
  host('out', 'of another site', 'evil.example'),
  host('out', 'of another site, with our port', `evil.example:${port}`),
  host('out', 'of another site that starts like us', `localhost.evil.example:${port}`),
  host('out', 'of another site that starts like our address', `127.0.0.1.evil.example:${port}`),
  host('out', 'of another site that ends like us', `evil-localhost:${port}`),
  host('out', 'below localhost', `evil.localhost:${port}`),
  host('out', 'below an allowed origin', 'sub.chat.example'),
  host('out', 'with a trailing dot', `localhost.:${port}`),
  host('out', 'of another site with a trailing dot', 'evil.example.'),
  host('out', 'with a user in it', `127.0.0.1@evil.example:${port}`),
  host('out', 'behind a user', `evil.example@127.0.0.1:${port}`),
  host('out', 'with a path', `localhost:${port}/evil.example`),
  host('out', 'with a query', `localhost:${port}?evil.example`),
  host('out', 'with a backslash', `localhost:${port}\\evil.example`),
  host('out', 'of another machine', `192.168.1.2:${port}`),
  host('out', 'of every address', `0.0.0.0:${port}`),
  host('out', 'IPv6 of another machine', `[fe80::1]:${port}`),
  host('out', 'IPv6 of every address', `[::]:${port}`),
  host('out', 'IPv6 that is not closed', `[::1:${port}`),
  host('out', 'with lookalike letters', `lоcalhost:${port}`),
  host('out', 'with a port that is not a number', 'localhost:port'),
  host('out', 'with a port that is too large', 'localhost:99999'),
  host('out', 'that is empty', ''),
  host('out', 'that is absent'),
  { ...host('out', 'that is absent, in HTTP/1.0'), version: '1.0' },
  { ...host('in', 'our own, in HTTP/1.0', `127.0.0.1:${port}`), version: '1.0' },
  { ...host('out', 'of another site, in HTTP/1.0', 'evil.example'), version: '1.0' },
  host('out', 'twice, ours first', `127.0.0.1:${port}`, 'evil.example'),
  host('out', 'twice, ours last', 'evil.example', `127.0.0.1:${port}`),
  host('out', 'twice, both ours', `127.0.0.1:${port}`, `127.0.0.1:${port}`),
  host('out', 'as a list', `127.0.0.1:${port}, evil.example`),
  {
    ...host('in', 'our own, and the request line names it as well', `127.0.0.1:${port}`),
    authority: `http://127.0.0.1:${port}`,
  },
  // Such a line is for proxies, and Bun drops its host: only the Host header counts.
  {
    ...host('in', 'our own, but the request line names another site', `127.0.0.1:${port}`),
    authority: 'http://evil.example',
  },
  {
    ...host('out', 'of another site, although the request line names us', 'evil.example'),
    authority: `http://127.0.0.1:${port}`,
  },
  { ...host('out', 'absent, although the request line names us'), authority: `http://127.0.0.1:${port}` },
];

export const originCallers = (port: number): readonly Caller[] => {
  const origin = (verdict: Verdict, what: string, ...origins: string[]): Caller => ({
    what: `Origin ${what}`,
    verdict,
    headers: [['Host', `127.0.0.1:${port}`], ...origins.map((value) => ['Origin', value] as const)],
  });
  return [
    origin('in', 'absent'),
    origin('in', 'the same', `http://127.0.0.1:${port}`),
    origin('in', 'the same by its other name', `http://localhost:${port}`),
    origin('in', 'loopback with another port', 'http://localhost:5173'),
    origin('in', 'loopback over TLS', 'https://127.0.0.1:5173'),
    origin('in', 'loopback over IPv6', 'http://[::1]:5173'),
    origin('in', 'allowed', 'https://chat.example'),
    origin('in', 'allowed with its port', 'https://panel.example:8443'),
    origin('in', 'of an extension that is allowed', EXTENSION),
    origin('out', 'null', 'null'),
    origin('out', 'null in capitals', 'NULL'),
    origin('out', 'empty', ''),
    origin('out', 'foreign', 'http://evil.example'),
    origin('out', 'foreign with our port', `http://evil.example:${port}`),
    origin('out', 'foreign that starts like us', 'http://localhost.evil.example'),
    origin('out', 'foreign that starts like our address', 'http://127.0.0.1.evil.example'),
    origin('out', 'foreign that ends like us', 'http://evil-localhost'),
    origin('out', 'below localhost', 'http://evil.localhost'),
    origin('out', 'foreign that starts like an allowed one', 'https://chat.example.evil.example'),
    origin('out', 'foreign that ends like an allowed one', 'https://evilchat.example'),
    origin('out', 'below an allowed one', 'https://sub.chat.example'),
    origin('out', 'allowed but for its scheme', 'http://chat.example'),
    origin('out', 'allowed but for its port', 'https://chat.example:444'),
    origin('out', 'allowed but for the port it lacks', 'https://panel.example'),
    origin('out', 'allowed in capitals', 'HTTPS://CHAT.EXAMPLE'),
    origin('out', 'allowed with a slash', 'https://chat.example/'),
    origin('out', 'allowed with a trailing dot', 'https://chat.example.'),
    origin('out', 'allowed with its default port', 'https://chat.example:443'),
    origin('out', 'allowed behind a user', 'https://evil@chat.example'),
    origin('out', 'ours behind a user', `http://evil.example@127.0.0.1:${port}`),
    origin('out', 'of an unknown extension', UNKNOWN_EXTENSION),
    origin('out', 'of an extension of another browser', EXTENSION.replace('chrome', 'moz')),
    origin('out', 'of an allowed extension, with a path', `${EXTENSION}/panel.html`),
    origin('out', 'a file', 'file://'),
    origin('out', 'of another machine', `http://192.168.1.2:${port}`),
    origin('out', 'not an address', 'localhost'),
    origin('out', 'twice, ours first', `http://127.0.0.1:${port}`, 'http://evil.example'),
    origin('out', 'twice, ours last', 'http://evil.example', `http://127.0.0.1:${port}`),
    origin('out', 'as a list', `http://127.0.0.1:${port} http://evil.example`),
  ];
};
