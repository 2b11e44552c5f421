package library_test

import ()
