/** What the extension may do on which site. A site is an origin. */

/** Sites that are not listed ask. */
export type SitePermission = 'allow' | 'never';
/** What a person chooses for a site. */
export type SiteChoice = SitePermission | 'ask';
export type SitePermissions = Readonly<Record<string, SitePermission>>;

/** The site of an address; null if no extension may work there. */
export function siteOf(address: string | undefined): string | null {
  const url = address === undefined ? null : URL.parse(address);
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url.origin : null;
}

/** For display: the host, and the scheme if it is not the usual one. */
export const siteName = (origin: string): string => origin.replace(/^https:\/\//, '');
