"""The only code that runs beside student code. It is handed inputs and gives back what it observed.

Nothing here knows what is right: no import of judge, bundle, record or solutions (a test walks the
import graph), and nothing that leaves here is more than numbers, names and exceptions.
"""
