1 2.5 'first|text:2 a b:0.5 |user age:30 member
-1 | a a:2 b:0
0.5 1 0 tag|text b:-1e-3|user 17
