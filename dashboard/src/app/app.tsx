import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { KeysPage } from '../account/keys-page.tsx'
import { SignInPage } from '../account/sign-in-page.tsx'
import { UsagePage } from '../account/usage-page.tsx'
import { hasScope, loadSignIn, signedIn, signOut } from '../api/api.ts'
import { Notices, report } from '../components/notices.tsx'
import { DeliveriesPage } from '../deliveries/deliveries-page.tsx'
import { LivePage } from '../live/live-page.tsx'
import { ReaderPage } from '../reader/reader-page.tsx'
import { SharedPage } from '../reader/sharing/shared-page.tsx'
import { FailuresPage } from '../recordings/failures-page.tsx'
import { RecordingsPage } from '../recordings/recordings-page.tsx'
import { SearchPage } from '../search/search-page.tsx'
import { ServerPage } from '../server/server-page.tsx'
import { texts } from '../texts.ts'
import { route } from './route.ts'

/**
 * The whole dashboard: a shared recording, the page that the address names, or the sign-in page.
 */
export function App(): JSX.Element {
  const isShared = route.value[0] === 'shared'
  useEffect(() => {
    if (!isShared) loadSignIn().catch(report)
  }, [isShared])
  if (isShared) {
    return (
      <Frame>
        <SharedPage key={route.value[1]} secret={route.value[1] ?? ''} />
      </Frame>
    )
  }
  if (signedIn.value === undefined) {
    return (
      <Frame>
        <p>{texts.loading}</p>
      </Frame>
    )
  }
  return signedIn.value === null || route.value[0] === 'sign-in' ? (
    <Frame>
      <SignInPage />
    </Frame>
  ) : (
    <Frame>
      <Page />
    </Frame>
  )
}

const pages = new Map<string, () => JSX.Element>([
  ['recordings', RecordingsPage],
  ['live', LivePage],
  ['search', SearchPage],
  ['failures', FailuresPage],
  ['deliveries', DeliveriesPage],
  ['usage', UsagePage],
  ['keys', KeysPage],
  ['server', ServerPage],
])

function Page(): JSX.Element {
  const [name = 'recordings', id] = route.value
  if ((name === 'pre-recorded' || name === 'live') && id) {
    return <ReaderPage key={`${name}/${id}`} kind={name} id={id} />
  }
  const NamedPage = pages.get(name)
  return NamedPage ? <NamedPage /> : <NoPage />
}

/** The page of an address that is not complete or was mistyped. */
function NoPage(): JSX.Element {
  return (
    <>
      <h1>{texts.noPage.title}</h1>
      <p>
        {texts.noPage.hint} <a href="#/">{texts.recordings.title}</a>
      </p>
    </>
  )
}

function Frame({ children }: { children: ComponentChildren }): JSX.Element {
  const main = useRef<HTMLElement>(null)
  const path = route.value.join('/')
  const isFirst = useRef(true)
  // When the path changes, the view and the focus move to the top of the new page, also for screen
  // readers.
  useEffect(() => {
    if (isFirst.current) isFirst.current = false
    else main.current?.focus()
    scrollTo(0, 0)
  }, [path])
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        {texts.skip}
      </button>
      <header class="top">
        <a class="brand" href="#/">
          {texts.app}
        </a>
        {signedIn.value && <Navigation />}
      </header>
      <main ref={main} tabIndex={-1}>
        {children}
      </main>
      <Notices />
    </>
  )
}

function Navigation(): JSX.Element {
  const [name = 'recordings'] = route.value
  const current = name === 'pre-recorded' || name === 'failures' ? 'recordings' : name
  const links = [
    ['recordings', '#/', texts.nav.recordings],
    ['search', '#/search', texts.nav.search],
    ['live', '#/live', texts.nav.live],
    ['deliveries', '#/deliveries', texts.nav.deliveries],
    ['usage', '#/usage', texts.nav.usage],
    ...(hasScope('keys') || hasScope('admin') ? [['keys', '#/keys', texts.nav.keys] as const] : []),
    ['server', '#/server', texts.nav.server],
  ] as const
  return (
    <nav aria-label={texts.app}>
      {links.map(([page, href, label]) => (
        <a key={page} href={href} aria-current={page === current ? 'page' : undefined}>
          {label}
        </a>
      ))}
      <button
        type="button"
        class="quiet"
        onClick={() => signOut({ everywhere: false }).catch(report)}
      >
        {texts.nav.signOut}
      </button>
    </nav>
  )
}
