import { render } from 'preact'
import { texts } from '../texts.ts'
import { App } from './app.tsx'
import '../style.css'

document.documentElement.lang = texts.language
document.documentElement.dir = texts.direction
render(<App />, document.getElementById('app')!)
