1.5 0.5 |ns f1 f2:1e-3 f3:.5|other:1e2 g:7 g:1
-3e1 tag|  a:0
